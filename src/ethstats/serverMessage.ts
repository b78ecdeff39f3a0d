/** A message of an ethstats server, as far as a node has to act on it. */
type ServerMessage =
  /** The server's own heartbeat, which ends the connection when nobody answers. */
  | { readonly kind: "heartbeat" }
  /** The server has accepted the node's hello. */
  | { readonly kind: "ready" }
  /** The answer to a node-ping. */
  | { readonly kind: "pong" }
  /** Wants blocks by their numbers, or the newest ones where there are none. */
  | { readonly kind: "history"; readonly numbers: readonly bigint[] };

/** Reads a message; undefined for anything else. */
export function readServerMessage(text: string): ServerMessage | undefined {
  const value = parsed(text);
  if (typeof value === "string") return HEARTBEAT.test(value) ? { kind: "heartbeat" } : undefined;
  const emit: unknown = isObject(value) ? value["emit"] : undefined;
  if (!Array.isArray(emit)) return undefined;
  const [name, parameter]: readonly unknown[] = emit;
  switch (name) {
    case "ready":
      return { kind: "ready" };
    case "node-pong":
      return { kind: "pong" };
    case "history":
      return { kind: "history", numbers: numbersIn(parameter) };
    default:
      return undefined;
  }
}

const HEARTBEAT = /^primus::ping::\d+$/;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The block numbers of `{"list": [...]}`, each once. */
function numbersIn(parameter: unknown): readonly bigint[] {
  const list: unknown = isObject(parameter) ? parameter["list"] : undefined;
  if (!Array.isArray(list)) return [];
  const numbers = new Set<bigint>();
  for (const item of list as unknown[])
    if (typeof item === "number" && Number.isSafeInteger(item) && item >= 0) numbers.add(BigInt(item));
  return [...numbers];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
