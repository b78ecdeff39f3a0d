import type { ForkName } from "../../../src/chainspec/forks.ts";
import { checkSignedForm } from "../../../src/execution/checkTransaction.ts";
import { minimumGas } from "../../../src/execution/intrinsicGas.ts";
import { rulesOf } from "../../../src/execution/rules.ts";
import { parseHex, toHex } from "../../../src/primitives/hex.ts";
import { decodeTransaction, type SentTransaction } from "../../../src/types/transaction.ts";
import { withRecoveredSender } from "../../../src/types/transactionSignature.ts";
import { readVectorJson } from "../../vectors.ts";
import type { Case, Failure, Suite } from "../suite.ts";
import { vectorFiles } from "../vectorFiles.ts";
import { explains, type RefusalCode } from "./transactionExceptions.ts";
import { forkOfVector } from "./vectorForks.ts";

interface TransactionTest {
  readonly txbytes: string;
  /** By fork: the facts of a valid transaction, or the exception. */
  readonly result: Readonly<Record<string, TransactionResult>>;
}

interface TransactionResult {
  readonly hash?: string;
  readonly sender?: string;
  readonly intrinsicGas?: string;
  readonly exception?: string;
}

/** TransactionTests: decoding, sender and intrinsic gas, or refusal, under each fork. */
export const TRANSACTION: Suite = {
  name: "transaction",
  total: 1864,
  every: 1,
  cases: () => vectorFiles("transaction-tests").flatMap(casesOf),
};

/** Ids are file names, because the titles in the files are not unique. */
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
  const validated = validate(parseHex(txbytes), fork);
  if (typeof validated === "string") {
    if (expected.exception === undefined) return `refused: ${validated}`;
    return explains(expected.exception, validated)
      ? undefined
      : `refused: ${validated}, expected: ${expected.exception}`;
  }
  if (expected.exception !== undefined) return `accepted, expected: ${expected.exception}`;
  const found = {
    hash: toHex(validated.hash),
    sender: toHex(validated.sender),
    intrinsicGas: minimumGas(rulesOf(fork), validated),
  };
  if (found.hash !== expected.hash) return `hash ${found.hash}, expected ${expected.hash}`;
  if (found.sender !== expected.sender) return `sender ${found.sender}, expected ${expected.sender}`;
  return found.intrinsicGas === BigInt(expected.intrinsicGas ?? 0)
    ? undefined
    : `intrinsic gas ${found.intrinsicGas}, expected ${BigInt(expected.intrinsicGas ?? 0)}`;
}

/** The transaction, or why the fork's rules refuse it. */
function validate(bytes: Uint8Array | undefined, fork: ForkName): SentTransaction | RefusalCode {
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
