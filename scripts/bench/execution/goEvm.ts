import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RLP } from "@ethereumjs/rlp";
import type { BlockContext } from "../../../src/execution/blockContext.ts";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import type { Overlay } from "../../../src/state/overlay.ts";
import type { BlockOfTransfers } from "./block.ts";
import { RULES } from "./stage.ts";
import type { Workload } from "./workloads.ts";

/** go-ethereum's command for running code: GO_EVM, else `evm` on the path. */
export interface GoEvm {
  /** Runs one call on the state repeatedly; returns its gas, and seconds per run. */
  measure(workload: Workload): { readonly gas: number; readonly seconds: number };
  /** Milliseconds for a block, minus the command's time for an empty block. */
  measureBlock(block: BlockOfTransfers): { readonly root: string; readonly ms: number };
  close(): void;
}

export const GO_COMMAND = process.env["GO_EVM"] ?? "evm";

/** Undefined when the command is not installed. */
export function findGoEvm(world: Overlay): GoEvm | undefined {
  if (spawnSync(GO_COMMAND, ["--version"]).status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "ibex-bench-evm-"));
  const prestate = join(folder, "genesis.json");
  writeFileSync(prestate, JSON.stringify(genesisOf(world, CANCUN_FROM_THE_START)));
  return {
    measure({ sender, to, input, codeOf }) {
      const options = [
        ["--bench"],
        ["--prestate", prestate],
        ["--sender", toHex(sender)],
        ["--receiver", toHex(to)],
        ["--input", toHex(input)],
        ["--gas", "500000000"],
      ];
      const code = toHex(codeOf(world));
      const run = spawnSync(GO_COMMAND, ["run", ...options.flat(), code], { encoding: "utf8" });
      const said = `${run.stdout}${run.stderr}`;
      const gas = /EVM gas used:\s+(\d+)/.exec(said)?.[1];
      const seconds = secondsOf(said);
      if (gas === undefined || seconds === undefined)
        throw new Error(`${GO_COMMAND} said: ${said.slice(0, 400)}`);
      return { gas: Number(gas), seconds };
    },
    measureBlock({ world: state, transactions }) {
      writeFileSync(join(folder, "alloc.json"), JSON.stringify(Object.fromEntries(allocOf(state))));
      writeFileSync(join(folder, "env.json"), JSON.stringify(environmentOf(RULES.block)));
      const empty = Math.min(...times(3, () => transit(folder, []).ms));
      const runs = times(3, () => transit(folder, transactions));
      const best = runs.reduce((a, b) => (a.ms < b.ms ? a : b));
      return { root: best.root, ms: best.ms - empty };
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The execution time printed by the command. */
export function secondsOf(said: string): number | undefined {
  const time = /execution time:\s+([\d.]+)(ns|µs|ms|s)\b/.exec(said);
  return time === null ? undefined : Number(time[1]) * SECONDS_PER[time[2] as keyof typeof SECONDS_PER];
}

function times<T>(count: number, run: () => T): T[] {
  return Array.from({ length: count }, run);
}

function transit(folder: string, transactions: readonly Uint8Array[]): { root: string; ms: number } {
  // A legacy transaction is a list item itself, not wrapped in a byte string.
  const list = RLP.encode(transactions.map((raw) => RLP.decode(raw)));
  writeFileSync(join(folder, "txs.rlp"), JSON.stringify(toHex(list)));
  const files = [
    ["--input.alloc", "alloc.json"],
    ["--input.env", "env.json"],
    ["--input.txs", "txs.rlp"],
    ["--output.result", "result.json"],
    ["--output.alloc", ""],
  ];
  const options = ["t8n", ...files.flat(), "--state.fork", "Cancun", "--state.chainid", "1337"];
  const begin = performance.now();
  const { status, stderr } = spawnSync(GO_COMMAND, options, { cwd: folder, encoding: "utf8" });
  const ms = performance.now() - begin;
  if (status !== 0) throw new Error(`${GO_COMMAND} said: ${stderr.slice(0, 400)}`);
  const result = JSON.parse(readFileSync(join(folder, "result.json"), "utf8")) as {
    readonly stateRoot: string;
    readonly receipts: readonly { readonly status: string }[] | null;
  };
  const succeeded = result.receipts?.filter((receipt) => receipt.status === "0x1").length ?? 0;
  if (succeeded !== transactions.length) throw new Error(`${GO_COMMAND} executed ${succeeded} transactions`);
  return { root: result.stateRoot, ms };
}

/** The block environment in the format of `evm t8n`. */
function environmentOf(block: BlockContext) {
  const quantity = (value: bigint): string => `0x${value.toString(16)}`;
  return {
    currentCoinbase: toHex(block.beneficiary),
    currentNumber: quantity(block.number),
    currentTimestamp: quantity(block.timestamp),
    currentGasLimit: quantity(block.gasLimit),
    currentBaseFee: quantity(block.baseFeePerGas ?? 0n),
    currentDifficulty: "0x0",
    currentRandom: toHex(block.mixHash),
    currentExcessBlobGas: "0x0",
    parentBeaconBlockRoot: `0x${"00".repeat(32)}`,
    withdrawals: [],
  };
}

const SECONDS_PER = { ns: 1e-9, µs: 1e-6, ms: 1e-3, s: 1 };

/** A genesis file under these rules whose accounts are those of the world; calls get so much gas, whatever is asked for. */
export function genesisOf(world: Overlay, config: object, gas = 1_000_000_000) {
  return {
    config,
    difficulty: "0x0",
    gasLimit: `0x${gas.toString(16)}`,
    timestamp: "0x0",
    alloc: Object.fromEntries(allocOf(world)),
  };
}

function allocOf(world: Overlay): [Hex, object][] {
  const { accounts, code } = world.changes();
  return accounts.flatMap(({ address, account, slots }): [Hex, object][] => {
    if (account === undefined) return [];
    const own = code.find(({ codeHash }) => Buffer.compare(codeHash, account.codeHash) === 0);
    return [
      [
        toHex(address),
        {
          balance: `0x${account.balance.toString(16)}`,
          nonce: `0x${account.nonce.toString(16)}`,
          ...(own !== undefined && { code: toHex(own.code) }),
          storage: Object.fromEntries(slots.map(({ slot, value }) => [toHex(slot), wordOf(value)])),
        },
      ],
    ];
  });
}

function wordOf(value: Uint8Array): Hex {
  return `0x${Buffer.from(value).toString("hex").padStart(64, "0")}`;
}

export const CANCUN_FROM_THE_START = {
  chainId: 1337,
  ...Object.fromEntries(
    "homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul muirGlacier berlin london"
      .split(" ")
      .map((fork) => [`${fork}Block`, 0]),
  ),
  terminalTotalDifficulty: 0,
  shanghaiTime: 0,
  cancunTime: 0,
  blobSchedule: { cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3338477 } },
};
