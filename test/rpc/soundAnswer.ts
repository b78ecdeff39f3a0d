/** What is wrong with an answer: it must have an id and either a result or an error of the known shape. */
export function problemsOf(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer.flatMap(problemsOf);
  const { jsonrpc, id, result, error } = answer as Record<string, unknown>;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const isSound =
    jsonrpc === "2.0" &&
    (id === null || typeof id === "string" || typeof id === "number") &&
    (error === undefined
      ? result !== undefined
      : result === undefined && Number.isInteger(code) && typeof message === "string");
  return isSound ? [] : [answer];
}
