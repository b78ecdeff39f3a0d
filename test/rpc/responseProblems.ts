/** The malformed responses in an answer: each needs an id and either a result or an error of the known shape. */
export function problemsOf(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer.flatMap(problemsOf);
  const { jsonrpc, id, result, error } = answer as Record<string, unknown>;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const isWellFormed =
    jsonrpc === "2.0" &&
    (id === null || typeof id === "string" || typeof id === "number") &&
    (error === undefined
      ? result !== undefined
      : result === undefined && Number.isInteger(code) && typeof message === "string");
  return isWellFormed ? [] : [answer];
}
