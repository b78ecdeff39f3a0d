/**
 * The first exception that nobody caught. From then on the process is in no state to be trusted: whoever waits for this
 * puts things away and ends. Without a listener Node.js would end at once, with files left behind and a bare stack.
 */
export function listenForFault(process: NodeJS.Process): Promise<unknown> {
  return new Promise((resolve) => {
    process.on("uncaughtException", resolve);
    process.on("unhandledRejection", resolve);
  });
}
