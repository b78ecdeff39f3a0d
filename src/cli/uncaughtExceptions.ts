/**
 * Resolves with the first uncaught exception. The process state is undefined from then on, so the caller cleans up and
 * exits. Without a listener Node.js would exit at once, leaving files behind.
 */
export function listenForFault(process: NodeJS.Process): Promise<unknown> {
  return new Promise((resolve) => {
    process.on("uncaughtException", resolve);
    process.on("unhandledRejection", resolve);
  });
}
