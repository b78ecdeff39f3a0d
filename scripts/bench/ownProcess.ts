import { fork } from "node:child_process";
import { join } from "node:path";

/**
 * Has the program beside this file perform the order in a process of its own, so that its CPU does not count as the node's.
 * Resolves with its report. `heapMb` is the limit of its heap, that of Node.js unless given.
 */
export function performElsewhere<Report>(program: string, order: object, heapMb?: number): Promise<Report> {
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, program), {
      serialization: "advanced",
      ...(heapMb !== undefined && { execArgv: [`--max-old-space-size=${heapMb}`] }),
    });
    child.once("message", (report: Report) => resolve(report));
    child.once("error", reject);
    child.once("exit", (code) => code !== 0 && reject(new Error(`${program} exited with ${code}`)));
    child.send(order);
  });
}

/** In that program: performs the order that comes, reports, and ends. */
export function performOrder<Order, Report>(perform: (order: Order) => Promise<Report>): void {
  process.on("message", (order: Order) => {
    perform(order).then(
      (report) => {
        process.send?.(report);
        process.disconnect();
      },
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
}
