import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { senderAddresses } from "../../workload.ts";
import type { HonestCalls, HonestThreadData, HonestTimes } from "./honestThread.ts";

const [HOLDER] = senderAddresses();
const USUAL: HonestCalls = {
  periodMs: 50,
  calls: [
    ["eth_blockNumber", []],
    ["eth_getBalance", [HOLDER, "latest"]],
    ["eth_call", [{ to: HOLDER }, "latest"]],
    ["eth_getBlockByNumber", ["0x1", false]],
  ],
};

/** A caller who makes small calls during an attack, and those that the attack is aimed at. */
export class HonestCaller {
  private readonly thread: Worker;

  constructor(port: number, aimedAt: HonestCalls | undefined) {
    const groups = aimedAt === undefined ? [USUAL] : [USUAL, aimedAt];
    const workerData: HonestThreadData = { port, groups };
    this.thread = new Worker(new URL("honestThread.js", import.meta.url), { workerData });
  }

  /** The times of the usual calls, and of those that the attack is aimed at if there are any. */
  async end(): Promise<HonestTimes> {
    this.thread.postMessage("end");
    const [times] = (await once(this.thread, "message")) as [HonestTimes];
    return times;
  }
}
