import { commonCalls, prepareScenery, type RpcCall, requestText } from "./commonCalls.ts";
import { type Contender, startIbex } from "./contenders.ts";
import { measureRead } from "./reads.ts";
import { cpuOfThreads } from "./threadCpu.ts";

const THREADS = [1, 2, 3, 4];
const METHODS = ["eth_blockNumber", "eth_getBalance", "eth_getTransactionReceipt", "eth_call"];
const IDLE_MS = 6_000;

/**
 * Reads by the number of threads for callers, and the memory that these take. On few cores more threads answer no more, so the
 * CPU tells what a larger machine would do: the thread that makes blocks bounds all of them together, each other one its own share.
 */
export async function measureThreads(secondsEach: number): Promise<void> {
  for (const threads of THREADS) {
    const node = await startIbex(undefined, [`--rpc-threads=${threads}`]);
    try {
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
      const idleMb = node.residentMb();
      const calls = commonCalls(await prepareScenery(node));
      // What has no answer in any block is asked of the thread that makes blocks.
      const pending: RpcCall = {
        method: "eth_getTransactionCount",
        params: [calls[3]?.params[0], "pending"],
      };
      console.log(`\n${threads} threads for callers, ${idleMb.toFixed(0)} MB when idle`);
      for (const call of [...calls.filter(({ method }) => METHODS.includes(method)), pending])
        await measureCall(node, call, secondsEach);
      console.log(`${node.residentMb().toFixed(0)} MB after that`);
    } finally {
      await node.stop();
    }
  }
}

async function measureCall(node: Contender, call: RpcCall, seconds: number): Promise<void> {
  for (const batch of [1, 100]) {
    const asked = { transport: "HTTP", batch, method: call.method } as const;
    const before = cpuByThread(node);
    const { perSecond, cpuMicroseconds, requests } = await measureRead(
      node,
      asked,
      requestText(call, batch),
      seconds,
    );
    const after = cpuByThread(node);
    const mainShare = (after.main - before.main) / (after.all - before.all);
    const main = cpuMicroseconds * mainShare;
    const others = cpuMicroseconds - main;
    console.log(
      `${call.method}${batch === 1 ? "" : ` x${batch}`}${call.params.includes("pending") ? " pending" : ""}: ` +
        `${perSecond.toFixed(0)} requests/s (${requests}), CPU ${cpuMicroseconds.toFixed(1)} µs, ` +
        `main thread ${main.toFixed(2)} µs, others ${others.toFixed(1)} µs`,
    );
  }
}

/** CPU seconds of the thread that makes blocks, and of all. */
function cpuByThread({ pid = 0 }: Contender): { readonly main: number; readonly all: number } {
  const cpu = cpuOfThreads(pid);
  return { main: cpu.get(pid) ?? 0, all: [...cpu.values()].reduce((sum, one) => sum + one, 0) };
}
