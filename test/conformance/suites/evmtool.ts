import type { ForkName } from "../../../src/chainspec/forks.ts";
import { intrinsicGas } from "../../../src/execution/intrinsicGas.ts";
import { rulesOf } from "../../../src/execution/rules.ts";
import { runTransaction } from "../../../src/execution/runTransaction.ts";
import { addressFromHex, ZERO_ADDRESS } from "../../../src/primitives/address.ts";
import { hexToBytes, toDigits, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { readVectorJson } from "../../vectors.ts";
import type { Case, Failure, Suite } from "../suite.ts";
import { vectorFiles } from "../vectorFiles.ts";
import { type JsonAccess, transactionOf } from "./jsonTransaction.ts";
import { loneSession } from "./message.ts";
import { bytesOfHex } from "./preState.ts";
import { checkStateTest, runStateTest, type StateTest, type StateTestCase } from "./stateTest.ts";
import { checkTransition, type Transition } from "./transition.ts";
import { forkOfVector } from "./vectorForks.ts";

/**
 * Output of Besu's evmtool: state tests, state transitions (t8n), and the summaries of traces. The trace lines are those of
 * trace files, which test/rpc/methods/recordedTraces.test.ts compares.
 */
export const EVMTOOL: Suite = {
  name: "evmtool",
  total: 44,
  every: 1,
  cases: () => vectorFiles("besu-core", "evmtool").flatMap(casesOf),
};

function casesOf(path: string): Case[] {
  const name = path.replace(".json", "");
  const [folder] = path.split("/");
  const read = <T>(): T => readVectorJson<T>("besu-core", "evmtool", path);
  if (folder === "t8n") return [{ id: name, run: () => checkTransition(read<Transition>()) }];
  if (folder === "trace") return [{ id: name, run: () => checkTrace(read<Trace>()) }];
  if (folder === "state-test") return [{ id: name, run: () => checkPrinted(read<PrintedStateTest>()) }];
  return Object.entries(read<Record<string, FilledStateTest>>()).flatMap(([title, test]) =>
    Object.entries(test.post).flatMap(([fork, expectations]) =>
      expectations.map((expected, index) => ({
        id: `${name} ${title} ${fork} ${index}`,
        run: () =>
          fork === "UnknownFork"
            ? checkUnknownFork(fork)
            : checkStateTest(test, fork, { ...expected, txbytes: bytesOf(test, expected) }),
      })),
    ),
  );
}

/** A state test with the fields of its transactions. */
interface FilledStateTest extends StateTest {
  readonly post: Readonly<Record<string, readonly FilledStateTestCase[]>>;
  readonly transaction: {
    readonly nonce: string;
    readonly gasPrice: string;
    readonly to: string;
    readonly data: readonly string[];
    readonly gasLimit: readonly string[];
    readonly value: readonly string[];
    readonly accessLists?: readonly (readonly JsonAccess[] | null)[];
    readonly secretKey: string;
  };
}

type FilledStateTestCase = StateTestCase & {
  readonly indexes: Readonly<Record<"data" | "gas" | "value", number>>;
};

function bytesOf({ transaction }: FilledStateTest, { txbytes, indexes }: FilledStateTestCase): string {
  if (txbytes !== undefined) return txbytes;
  const accessList = transaction.accessLists?.[indexes.data] ?? undefined;
  const { raw } = transactionOf({
    ...(accessList !== undefined && { type: "0x1", chainId: "0x1", accessList }),
    nonce: transaction.nonce,
    gasPrice: transaction.gasPrice,
    to: transaction.to,
    input: transaction.data[indexes.data] ?? "0x",
    gas: transaction.gasLimit[indexes.gas] ?? "0x0",
    value: transaction.value[indexes.value] ?? "0x0",
    secretKey: transaction.secretKey,
  });
  return toHex(raw);
}

function checkUnknownFork(name: string): Failure | undefined {
  try {
    return `is read as ${forkOfVector(name)}`;
  } catch {
    return undefined;
  }
}

interface PrintedStateTest {
  readonly stdin: Readonly<Record<string, FilledStateTest>>;
  /** Steps, followed by a summary for each case. */
  readonly stdout: readonly Readonly<Record<string, unknown>>[];
}

async function checkPrinted({ stdin, stdout }: PrintedStateTest): Promise<Failure | undefined> {
  const [[title, test] = ["", undefined]] = Object.entries(stdin);
  const [[fork, [expected]] = ["", []]] = Object.entries(test?.post ?? {});
  const printed = stdout.at(-1);
  if (test === undefined || expected === undefined || printed?.["test"] !== title)
    throw new Error("one test with one case is expected");
  const run = await runStateTest(test, fork, hexToBytes(bytesOf(test, expected)));
  if ("refusal" in run) return `refused: ${run.refusal}`;
  const { outcome, gasUsed, output } = run.result;
  return firstDifference(printed, {
    output: toDigits(output),
    gasUsed: toQuantity(gasUsed),
    postHash: run.root,
    postLogsHash: run.logsHash,
    pass: run.root === expected.hash && run.logsHash === expected.logs,
    error: outcome.kind === "halted" ? outcome.reason : undefined,
  });
}

interface Trace {
  readonly cli: readonly string[];
  /** Steps, followed by the summary. */
  readonly stdout: readonly Readonly<Record<string, unknown>>[];
}

/** Runs code without a transaction, as the options describe. */
async function checkTrace({ cli, stdout }: Trace): Promise<Failure | undefined> {
  const option = (name: string): string | undefined => {
    const at = cli.indexOf(`--${name}`);
    return at < 0 ? undefined : cli[at + 1];
  };
  const fork = (option("fork") === "paris" ? "london" : (option("fork") ?? "cancun")) as ForkName;
  const to = shortAddress(option("receiver") ?? "0x0");
  const data = hexToBytes(option("input") ?? "0x");
  const session = loneSession(fork, {
    to,
    code: bytesOfHex(option("code") ?? "0x"),
    block: { beneficiary: shortAddress(option("coinbase") ?? "0x0") },
  });
  const intrinsic = intrinsicGas(rulesOf(fork), { to, data, accessList: [], authorizationList: [] });
  const gas = BigInt(option("gas") ?? DEFAULT_GAS);
  session.overlay.beginTransaction();
  const { gasUsed, output } = await runTransaction(
    session,
    {
      type: 0,
      nonce: 0n,
      gasPrice: 0n,
      sender: ZERO_ADDRESS,
      to,
      value: 0n,
      data,
      gasLimit: cli.includes("--intrinsic-gas") ? gas : gas + intrinsic,
      accessList: [],
      blobVersionedHashes: [],
      authorizationList: [],
    },
    0n,
  );
  return firstDifference(stdout.at(-1) ?? {}, {
    gasTotal: toQuantity(gasUsed - intrinsic),
    output: toHex(output),
  });
}

const DEFAULT_GAS = 10n ** 10n;

function shortAddress(text: string) {
  return addressFromHex(`0x${text.replace(/^0x/, "").toLowerCase().padStart(40, "0")}`);
}

function firstDifference(
  expected: Readonly<Record<string, unknown>>,
  found: Readonly<Record<string, unknown>>,
): Failure | undefined {
  const name = Object.keys(found).find((key) => found[key] !== expected[key]);
  return name === undefined ? undefined : `${name} ${found[name]}, expected ${expected[name]}`;
}
