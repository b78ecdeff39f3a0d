/** Readers for the answer of ibft_status, which may come from a node of another version. */

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textIn(record: Readonly<Record<string, unknown>>, name: string): string {
  const value = record[name];
  return typeof value === "string" ? value : "unknown";
}
