import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Contender } from "./contenders.ts";
import { startValidators, type ValidatorProcesses } from "./network.ts";
import { measureThroughput } from "./throughput.ts";

const DAY_SECONDS = 86_400;

/** What a node has used since its start. */
interface Use {
  readonly cpuSeconds: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly logBytes: number;
  readonly blocks: number;
}

/**
 * What nodes take while nothing is asked of them, and with transfers at a rate: CPU, memory, open files, bytes between peers
 * (by `ss`, without packet headers), and log. Validators and a follower on this computer.
 */
export async function measureFootprint(validators: number, seconds: number, rate: number): Promise<void> {
  const network = await startValidators(validators, { followers: 1 });
  try {
    const [first] = network.nodes;
    if (first === undefined) throw new Error("no validator");
    await during(
      network,
      `idle for ${seconds} s`,
      seconds,
      () => new Promise((done) => setTimeout(done, seconds * 1000)),
    );
    await during(network, `${rate} transfers a second to one of them, for ${seconds} s`, seconds, () =>
      measureThroughput(first, "transfers", seconds, rate * 2, rate).then(({ transactions }) =>
        console.log(`\n${transactions} transfers`),
      ),
    );
  } finally {
    await network.stop();
  }
}

async function during(
  network: ValidatorProcesses,
  what: string,
  seconds: number,
  work: () => Promise<unknown>,
): Promise<void> {
  const validators = network.nodes.length - 1;
  const before = network.nodes.map((_, index) => useOf(network, index));
  const startedAtMs = performance.now();
  await work();
  const took = (performance.now() - startedAtMs) / 1000;
  console.log(
    `\n${validators} validators and a follower, ${what} (measured over ${Math.max(seconds, took).toFixed(0)} s)`,
  );
  for (const [index, node] of network.nodes.entries()) {
    const [old, now] = [before[index] as Use, useOf(network, index)];
    const perSecond = (name: keyof Use): number => (now[name] - old[name]) / took;
    const perDay = (name: keyof Use): string => ((perSecond(name) * DAY_SECONDS) / 1e6).toFixed(0);
    console.log(
      `${index < validators ? "validator" : "follower "} CPU ${(100 * perSecond("cpuSeconds")).toFixed(1)} %, ` +
        `memory ${node.residentMb().toFixed(0)} MB, open files ${filesOf(node)}, ` +
        `sent ${(perSecond("sentBytes") / 1000).toFixed(2)} kB/s = ${perDay("sentBytes")} MB a day, ` +
        `received ${(perSecond("receivedBytes") / 1000).toFixed(2)} kB/s = ${perDay("receivedBytes")} MB a day, ` +
        `log ${perDay("logBytes")} MB a day, ${((now.logBytes - old.logBytes) / Math.max(1, now.blocks - old.blocks)).toFixed(0)} bytes a block`,
    );
  }
}

function useOf(network: ValidatorProcesses, index: number): Use {
  const node = network.nodes[index] as Contender;
  const log = statSync(join(node.dataPath ?? "", "node.log"));
  return {
    cpuSeconds: node.cpuSeconds(),
    ...peerBytes(node.pid ?? 0, network.peerPorts),
    logBytes: log.size,
    blocks: network.blocks(index).length,
  };
}

function filesOf({ pid }: Contender): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** What `ss` tells of the connections between peers that a process has. */
function peerBytes(pid: number, peerPorts: readonly number[]): Pick<Use, "sentBytes" | "receivedBytes"> {
  const lines = execFileSync("ss", ["-tinpHO", "state", "established"], { encoding: "utf8" }).split("\n");
  const own = lines.filter(
    (line) => line.includes(`pid=${pid},`) && peerPorts.some((port) => line.includes(`:${port} `)),
  );
  const sum = (name: string): number =>
    own.reduce((all, line) => all + Number(new RegExp(`${name}:(\\d+)`).exec(line)?.[1] ?? 0), 0);
  return { sentBytes: sum("bytes_sent"), receivedBytes: sum("bytes_received") };
}
