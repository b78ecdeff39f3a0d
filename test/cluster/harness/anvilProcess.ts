import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { freePort, type NodeProcess, rpc, until } from "./nodeProcess.ts";

/** anvil for comparison: in memory, on the development network's genesis state, mining on request. */
export interface AnvilProcess {
  readonly rpc: NodeProcess["rpc"];
  stop(): Promise<void>;
}

/** The binary that npm installed for this platform; undefined when there is none. */
export function anvilBinary(): string | undefined {
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${platform}/package.json`);
    return join(manifest, "..", "bin", "anvil");
  } catch {
    return undefined;
  }
}

/**
 * Options of the node that is compared with it. Both have Cancun: from Prague on, each block writes its parent's hash into the state, and
 * the headers of the two differ.
 */
export const BESIDE_ANVIL = [
  "--rpc-http-api=ETH,NET,WEB3,DEBUG,MINER",
  "--override-genesis-config=pragueTime=",
];

export async function startAnvilProcess(binary: string): Promise<AnvilProcess> {
  const port = await freePort();
  const genesis = resolve(import.meta.dirname, "..", "..", "..", "genesis", "dev.json");
  const args = [
    ...["--port", `${port}`, "--silent", "--no-mining", "--order", "fifo", "--hardfork", "cancun"],
    ...["--init", genesis, "--accounts", "0", "--chain-id", "1337", "--timestamp", "0"],
    ...["--gas-limit", "400000000", "--base-fee", "0", "--disable-min-priority-fee"],
    ...["--disable-default-create2-deployer", "--steps-tracing"],
  ];
  const child = spawn(binary, args, { stdio: "ignore" });
  const killed = () => child.kill("SIGKILL");
  process.once("exit", killed);
  const ask: NodeProcess["rpc"] = (method, params = []) => rpc(`http://127.0.0.1:${port}`, method, params);
  const answers = async () => {
    if (child.exitCode !== null) throw new Error(`anvil stopped with ${child.exitCode}`);
    return ask("eth_blockNumber").catch(() => undefined);
  };
  await until(answers, "anvil's first answer");
  return {
    rpc: ask,
    stop: () =>
      new Promise((ended) => {
        process.off("exit", killed);
        child.once("exit", () => ended());
        child.kill("SIGTERM");
      }),
  };
}

interface MinedBlock {
  readonly timestamp: string;
  readonly miner: string;
  readonly transactions: readonly string[];
}

/** Makes anvil mine the same transactions in the same blocks, with the same timestamps and beneficiary. */
export async function mineAlike(
  anvil: AnvilProcess,
  node: NodeProcess,
  raws: ReadonlyMap<string, string>,
  lastBlock: number,
): Promise<void> {
  for (let number = 1; number <= lastBlock; number++) {
    const block = await node.rpc<MinedBlock>("eth_getBlockByNumber", [`0x${number.toString(16)}`, false]);
    await anvil.rpc("anvil_setCoinbase", [block.miner]);
    await anvil.rpc("anvil_setNextBlockBaseFeePerGas", ["0x0"]);
    await anvil.rpc("evm_setNextBlockTimestamp", [block.timestamp]);
    for (const hash of block.transactions) await anvil.rpc("eth_sendRawTransaction", [raws.get(hash)]);
    await anvil.rpc("evm_mine");
  }
}
