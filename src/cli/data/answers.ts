/** An object in a JSON-RPC answer. Its members are read, and refused, where their column is known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An answer of the node violates JSON-RPC; a retry would not help. */
export class BadAnswer extends Error {
  override name = "BadAnswer";
}

/** Throws BadAnswer. */
export function objectOf(value: unknown, what: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new BadAnswer(`${what} is not an object`);
}

/** Throws BadAnswer. */
export function objectsOf(value: unknown, what: string): readonly JsonObject[] {
  if (!Array.isArray(value)) throw new BadAnswer(`${what} is not a list`);
  for (const item of value) objectOf(item, `an item of ${what}`);
  return value as readonly JsonObject[];
}

/** Throws BadAnswer. */
export function textOf(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  throw new BadAnswer(`${what} is not a text`);
}

/** A whole number, as JSON-RPC writes it: hexadecimal text, or a number in traces. Throws BadAnswer. */
export function wholeNumberOf(value: unknown): bigint {
  if (typeof value === "string" && /^0x[\da-f]{1,64}$/i.test(value)) return BigInt(value);
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  throw new BadAnswer(`${shown(value)} is not a whole number`);
}

/** Throws BadAnswer. */
export function bytesOf(value: unknown): Uint8Array {
  if (typeof value === "string" && value.startsWith("0x")) {
    const bytes = Buffer.from(value.slice(2), "hex");
    if (2 * bytes.length + 2 === value.length) return bytes;
  }
  throw new BadAnswer(`${shown(value)} is not hexadecimal bytes`);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 80);
}
