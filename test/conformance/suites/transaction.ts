import type { ForkName } from "../../../src/chainspec/forks.ts";
import { checkSignedForm } from "../../../src/execution/checkTransaction.ts";
import { minimumGas } from "../../../src/execution/intrinsicGas.ts";
import { rulesOf } from "../../../src/execution/rules.ts";
import { parseHex, toHex } from "../../../src/primitives/hex.ts";
import {
  decodeTransaction,
  type SentTransaction,
  withRecoveredSender,
} from "../../../src/types/transaction.ts";
import { readVectorJson } from "../../vectors.ts";
import type { Case, Failure, Suite } from "../suite.ts";
import { vectorFiles } from "../vectorFiles.ts";
import { explains, type Refusal } from "./transactionExceptions.ts";
import { forkOfVector } from "./vectorForks.ts";

interface TransactionTest {
  readonly txbytes: string;
  /** By fork: what a valid transaction is known by, or why it is not one. */
  readonly result: Readonly<Record<string, TransactionResult>>;
}

interface TransactionResult {
  readonly hash?: string;
  readonly sender?: string;
  readonly intrinsicGas?: string;
  readonly exception?: string;
}

/** TransactionTests: decoding, signer and intrinsic gas, or refusal, under each fork. */
export const TRANSACTION: Suite = {
  name: "transaction",
  total: 1864,
  every: 1,
  cases: () => vectorFiles("transaction-tests").flatMap(casesOf),
};

/** Named by file: the titles inside are not all different. */
function casesOf(path: string): Case[] {
  const file = readVectorJson<Record<string, TransactionTest>>("transaction-tests", path);
  return Object.values(file).flatMap(({ txbytes, result }) =>
    Object.entries(result).map(([fork, expected]) => ({
      id: `${path.replace(".json", "")} ${fork}`,
      run: () => check(txbytes, fork, expected),
    })),
  );
}

const CHAIN_ID = 1n;

function check(txbytes: string, forkName: string, expected: TransactionResult): Failure | undefined {
  const fork = forkOfVector(forkName);
  const verdict = judge(parseHex(txbytes), fork);
  if (typeof verdict === "string") {
    if (expected.exception === undefined) return `refused: ${verdict}`;
    return explains(expected.exception, verdict)
      ? undefined
      : `refused: ${verdict}, expected: ${expected.exception}`;
  }
  if (expected.exception !== undefined) return `accepted, expected: ${expected.exception}`;
  const found = {
    hash: toHex(verdict.hash),
    sender: toHex(verdict.sender),
    intrinsicGas: minimumGas(rulesOf(fork), verdict),
  };
  if (found.hash !== expected.hash) return `hash ${found.hash}, expected ${expected.hash}`;
  if (found.sender !== expected.sender) return `sender ${found.sender}, expected ${expected.sender}`;
  return found.intrinsicGas === BigInt(expected.intrinsicGas ?? 0)
    ? undefined
    : `intrinsic gas ${found.intrinsicGas}, expected ${BigInt(expected.intrinsicGas ?? 0)}`;
}

/** The transaction as the fork's rules accept it, or why they do not. */
function judge(bytes: Uint8Array | undefined, fork: ForkName): SentTransaction | Refusal {
  if (bytes === undefined) return "notHexadecimal";
  const decoded = decodeTransaction(bytes);
  if (!decoded.ok) return decoded.error.code;
  const transaction = withRecoveredSender(decoded.value);
  if (transaction === undefined) return "noSender";
  const rules = rulesOf(fork);
  const block = { blobBaseFee: 1n, ...(rules.hasBaseFee && { baseFeePerGas: 0n }) };
  const refused = checkSignedForm({ rules, chainId: CHAIN_ID, block }, transaction);
  return refused?.error.code ?? transaction;
}
