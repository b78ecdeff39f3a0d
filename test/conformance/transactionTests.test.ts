import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import type { ForkName } from "../../src/chainspec/forks.ts";
import { checkSignedForm } from "../../src/execution/checkTransaction.ts";
import { minimumGas } from "../../src/execution/intrinsicGas.ts";
import { rulesOf } from "../../src/execution/rules.ts";
import { parseHex, toHex } from "../../src/primitives/hex.ts";
import { decodeTransaction, type SentTransaction, withRecoveredSender } from "../../src/types/transaction.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../vectors.ts";

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

const FORKS: Readonly<Record<string, ForkName>> = {
  Frontier: "frontier",
  Homestead: "homestead",
  EIP150: "tangerineWhistle",
  EIP158: "spuriousDragon",
  Byzantium: "byzantium",
  Constantinople: "constantinople",
  ConstantinopleFix: "petersburg",
  Istanbul: "istanbul",
  Berlin: "berlin",
  London: "london",
  Paris: "grayGlacier",
  Shanghai: "shanghai",
  Cancun: "cancun",
};

const CHAIN_ID = 1n;

/** The transaction as the fork's rules accept it, or why they do not. */
function judge(bytes: Uint8Array | undefined, fork: ForkName): SentTransaction | string {
  if (bytes === undefined) return "not hexadecimal";
  const decoded = decodeTransaction(bytes);
  if (!decoded.ok) return decoded.rejection.message;
  const transaction = withRecoveredSender(decoded.value);
  if (transaction === undefined) return "no key fits the signature";
  const rules = rulesOf(fork);
  const block = { blobBaseFee: 1n, ...(rules.hasBaseFee && { baseFeePerGas: 0n }) };
  const refused = checkSignedForm({ rules, chainId: CHAIN_ID, block }, transaction);
  return refused?.rejection.message ?? transaction;
}

describeWithVectors("public transaction tests", () => {
  const tests = readdirSync(vectorPath("transaction-tests"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".json"))
    .flatMap((path) =>
      Object.entries(readVectorJson<Record<string, TransactionTest>>("transaction-tests", path)),
    );

  it("are there in numbers", () => {
    expect(tests.length).toBeGreaterThan(100);
  });

  it.each(tests)("%s", (_, { txbytes, result }) => {
    for (const [forkName, expected] of Object.entries(result)) {
      const fork = FORKS[forkName];
      if (fork === undefined) throw new Error(`unknown fork ${forkName}`);
      const verdict = judge(parseHex(txbytes), fork);
      if (expected.exception !== undefined) {
        expect(verdict, `${forkName}: ${expected.exception}`).toBeTypeOf("string");
      } else {
        if (typeof verdict === "string") throw new Error(`${forkName}: ${verdict}`);
        expect(toHex(verdict.hash)).toBe(expected.hash);
        expect(toHex(verdict.sender)).toBe(expected.sender);
        expect(minimumGas(rulesOf(fork), verdict)).toBe(BigInt(expected.intrinsicGas ?? 0));
      }
    }
  });
});
