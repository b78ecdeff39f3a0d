import { isAtLeast } from "../../../src/chainspec/forks.ts";
import { followingBaseFee } from "../../../src/execution/baseFee.ts";
import type { BlockContext } from "../../../src/execution/blockContext.ts";
import { BlockReceipts } from "../../../src/execution/blockReceipts.ts";
import { BlockSession } from "../../../src/execution/blockSession.ts";
import { credit } from "../../../src/execution/emptyAccounts.ts";
import { executeTransaction } from "../../../src/execution/executeTransaction.ts";
import { rulesOf } from "../../../src/execution/rules.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { asHash, hashFromHex } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes, toQuantity } from "../../../src/primitives/quantity.ts";
import { encodeRlpList } from "../../../src/primitives/rlp.ts";
import type { Overlay } from "../../../src/state/overlay.ts";
import { decodeBody, encodeTransactions } from "../../../src/types/block.ts";
import { rootOfList } from "../../../src/types/listRoot.ts";
import type { Log } from "../../../src/types/log.ts";
import { encodeReceipt } from "../../../src/types/receipt.ts";
import type { Transaction } from "../../../src/types/transaction.ts";
import { withRecoveredSender } from "../../../src/types/transactionSignature.ts";
import { blobBaseFeeOf } from "../chains/blobGas.ts";
import type { Failure } from "../suite.ts";
import { type JsonTransaction, transactionOf } from "./jsonTransaction.ts";
import { type PreState, worldOf } from "./preState.ts";
import { hashOfLogs } from "./stateTest.ts";
import { forkOfVector } from "./vectorForks.ts";

/** A run of Besu's `evmtool t8n`: transactions on a state, and the output. */
export interface Transition {
  readonly cli: readonly string[];
  readonly stdin: {
    readonly alloc: PreState;
    /** A string is the RLP of a list. */
    readonly txs: readonly JsonTransaction[] | string | null;
    readonly env: TransitionEnvironment;
  };
  readonly stdout: { readonly body?: string; readonly result: TransitionResult };
}

interface TransitionEnvironment {
  readonly currentCoinbase: string;
  readonly currentGasLimit: string;
  readonly currentNumber: string;
  readonly currentTimestamp: string;
  readonly currentRandom?: string;
  readonly currentDifficulty?: string;
  readonly currentBaseFee?: string;
  readonly currentExcessBlobGas?: string;
  readonly parentBaseFee?: string;
  readonly parentGasUsed?: string;
  readonly parentGasLimit?: string;
  readonly blockHashes?: Readonly<Record<string, string>>;
  readonly withdrawals?: readonly { readonly address: string; readonly amount: string }[];
}

interface TransitionResult {
  readonly stateRoot: string;
  readonly txRoot: string;
  readonly receiptsRoot: string;
  readonly logsHash: string;
  readonly logsBloom: string;
  readonly gasUsed: string;
  readonly currentBaseFee?: string;
  readonly rejected?: readonly { readonly index: number; readonly error: string }[];
}

/**
 * Executes the same transactions with our executor. Not compared: the difficulty, which only proof of work derives from the
 * parent, and the list of accounts, which the state root covers.
 */
export async function checkTransition({ cli, stdin, stdout }: Transition): Promise<Failure | undefined> {
  const forkName = optionOf(cli, "state.fork") ?? "";
  const world = await worldOf(prefixed(stdin.alloc));
  const overlay = world.overlay();
  const block = contextOf(stdin.env, forkName);
  const session = new BlockSession({
    config: {
      chainId: BigInt(optionOf(cli, "state.chainid") ?? 1),
      contractSizeLimitBytes: 24_576,
      stackLimit: 1024,
    },
    rules: rulesOf(forkOfVector(forkName)),
    block,
    overlay,
    yieldPolicy: NEVER_YIELD,
  });
  const run = await execute(session, transactionsOf(stdin.txs));
  const reward = BigInt(optionOf(cli, "state.reward") ?? ETHASH_REWARD);
  if (reward > 0n && BigInt(run.gasUsed) > 0n) credit(overlay, block.beneficiary, reward);
  payWithdrawals(overlay, stdin.env);
  const found: Record<string, unknown> = {
    ...run,
    stateRoot: toHex(world.stage(overlay.changes(), 1n).root),
    currentBaseFee: block.baseFeePerGas === undefined ? undefined : toQuantity(block.baseFeePerGas),
  };
  const { stateRoot, txRoot, receiptsRoot, logsHash, logsBloom, gasUsed, currentBaseFee } = stdout.result;
  const expected: Record<string, unknown> = {
    ...{ stateRoot, txRoot, receiptsRoot, logsHash, logsBloom, gasUsed, currentBaseFee },
    rejected: stdout.result.rejected ?? [],
    body: stdout.body ?? found["body"],
  };
  const wrong = Object.keys(expected).filter(
    (name) => JSON.stringify(found[name]) !== JSON.stringify(expected[name]),
  );
  return wrong.length === 0
    ? undefined
    : wrong
        .map((name) => `${name} ${JSON.stringify(found[name])}, expected ${JSON.stringify(expected[name])}`)
        .join("; ");
}

async function execute(session: BlockSession, transactions: readonly Transaction[]) {
  const receipts = new BlockReceipts({});
  const executed: Transaction[] = [];
  const logs: Log[] = [];
  const rejected: { index: number; error: string }[] = [];
  for (const [index, transaction] of transactions.entries()) {
    const sent = withRecoveredSender(transaction);
    if (sent === undefined) throw new Error(`transaction ${index} has no sender`);
    session.overlay.beginTransaction();
    const result = await executeTransaction(session, sent);
    if (result.ok) {
      executed.push(sent);
      await receipts.add(sent.type, result.value, session.yieldPolicy);
      logs.push(...result.value.logs);
    } else rejected.push({ index, error: result.error.message });
  }
  return {
    rejected,
    // Includes rejected transactions.
    body: toHex(encodeTransactions(transactions)),
    txRoot: toHex(rootOfList(executed.map(({ raw }) => raw))),
    receiptsRoot: toHex(rootOfList(receipts.receipts.map(encodeReceipt))),
    logsHash: hashOfLogs(logs),
    logsBloom: toHex(receipts.logsBloom),
    gasUsed: toQuantity(receipts.gasUsed),
  };
}

/** The tool reads all numbers of accounts as hexadecimal. */
function prefixed(alloc: PreState): PreState {
  const hex = (text = "0x0"): string => (text.startsWith("0x") ? text : `0x${text}`);
  return Object.fromEntries(
    Object.entries(alloc).map(([address, account]) => [
      address,
      { ...account, balance: hex(account.balance), nonce: hex(account.nonce) },
    ]),
  );
}

/**
 * The tool's default reward for a block that executed something, which is the proof-of-work reward of these forks.
 */
const ETHASH_REWARD = 2n * 10n ** 18n;

function optionOf(cli: readonly string[], name: string): string | undefined {
  const prefix = `--${name}=`;
  return cli.find((argument) => argument.startsWith(prefix))?.slice(prefix.length);
}

const EMPTY_LIST = Uint8Array.of(0xc0);

function transactionsOf(txs: Transition["stdin"]["txs"]): readonly Transaction[] {
  if (typeof txs !== "string") return (txs ?? []).map(transactionOf);
  const body = decodeBody(encodeRlpList([hexToBytes(txs), EMPTY_LIST]));
  if (!body.ok) throw new Error(body.error.message);
  return body.value.transactions;
}

function contextOf(env: TransitionEnvironment, forkName: string): BlockContext {
  const fork = forkOfVector(forkName);
  const baseFeePerGas = isAtLeast(fork, "london") ? baseFeeOf(env) : undefined;
  return {
    number: BigInt(env.currentNumber),
    timestamp: BigInt(env.currentTimestamp),
    gasLimit: BigInt(env.currentGasLimit),
    beneficiary: addressFromHex(env.currentCoinbase),
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
    difficulty: BigInt(env.currentDifficulty ?? "0x0"),
    mixHash: asHash(bigintToFixedBytes(BigInt(env.currentRandom ?? "0x0"), 32)),
    blobBaseFee: isAtLeast(fork, "cancun")
      ? blobBaseFeeOf(fork, BigInt(env.currentExcessBlobGas ?? "0x0"))
      : 0n,
    hashOf: (number) => {
      const hash = env.blockHashes?.[number.toString()];
      return hash === undefined ? undefined : hashFromHex(hash);
    },
  };
}

function baseFeeOf(env: TransitionEnvironment): bigint {
  if (env.currentBaseFee !== undefined) return BigInt(env.currentBaseFee);
  return followingBaseFee({
    baseFeePerGas: BigInt(env.parentBaseFee ?? "0x0"),
    gasUsed: BigInt(env.parentGasUsed ?? "0x0"),
    gasTarget: BigInt(env.parentGasLimit ?? "0x0") / 2n,
  });
}

/** IBFT chains have no withdrawals. One that would overflow an account is not paid, as in the tool. */
function payWithdrawals(overlay: Overlay, { withdrawals = [] }: TransitionEnvironment): void {
  for (const { address, amount } of withdrawals) {
    const recipient = addressFromHex(address);
    const wei = BigInt(amount) * 10n ** 9n;
    if ((overlay.account(recipient)?.balance ?? 0n) + wei >= 2n ** 256n) return;
    credit(overlay, recipient, wei);
  }
}
