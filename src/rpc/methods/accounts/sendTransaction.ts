import type { LocatedTransaction } from "../../../chain/chainReader.ts";
import type { WalletErrorCode, WalletSent } from "../../../dev/wallet.ts";
import type { Address } from "../../../primitives/address.ts";
import { expectDefined } from "../../../primitives/assert.ts";
import { toHex } from "../../../primitives/hex.ts";
import type { CodedError } from "../../../primitives/result.ts";
import { signTransaction, type UnsignedTransaction } from "../../../types/unsignedTransaction.ts";
import { RpcError } from "../../errors/errors.ts";
import { estimateError } from "../../errors/simulationErrors.ts";
import { walletRefusal } from "../../errors/toolErrors.ts";
import { type ContextOf, defineMethod, required } from "../../method.ts";
import { decodePartialTransaction, type PartialTransaction } from "../../parameters/fillParameter.ts";
import { overridesOf } from "../../parameters/overrideParameters.ts";
import { CALL, DATA, HASH } from "../../schemas.ts";
import { completeTransaction } from "../../signing/completeTransaction.ts";
import { failureOf } from "../../signing/failedTransaction.ts";
import { nextBlock } from "../../signing/nextBlock.ts";
import { ACCOUNT_METHOD, privateKeyOf, unknownAccount } from "./accountMethod.ts";

const TRANSACTION = required("transaction", decodePartialTransaction, CALL);

/** Time that an answer waits for the block of its transaction. */
const INCLUSION_TIMEOUT_MS = 5000;

export const devSendTransaction = defineMethod({
  ...ACCOUNT_METHOD,
  name: "eth_sendTransaction",
  summary:
    "Signs a transaction with an account's key, and sends it; returns its hash once a block has it, if soon.",
  parameters: [TRANSACTION],
  result: { name: "hash", schema: HASH },
  ports: [
    "chain",
    "newestHead",
    "gasPrices",
    "simulator",
    "tracer",
    "spec",
    "settings",
    "wallet",
    "development",
    "inclusionWaits",
  ],
  mayOverlap: "many",
  async run([wanted], context) {
    const from = senderOf(wanted, context);
    const completed = await complete(wanted, from, context);
    if (completed instanceof RpcError) return completed;
    const sent = await context.backend.wallet.send(from, { ...completed, nonce: wanted.nonce }, context);
    if (!sent.ok) return walletError(sent.error, from, completed, context);
    const located = await included(sent.value, context);
    return (located && (await failureOf(located, context))) ?? toHex(sent.value.hash);
  },
});

export const devSignTransaction = defineMethod({
  ...ACCOUNT_METHOD,
  name: "eth_signTransaction",
  summary: "Signs a transaction with an account's key, and returns what eth_sendRawTransaction takes.",
  parameters: [TRANSACTION],
  result: { name: "transaction", schema: DATA },
  ports: ["chain", "newestHead", "gasPrices", "simulator", "spec", "settings", "pool", "development"],
  mayOverlap: "few",
  async run([wanted], context) {
    const from = senderOf(wanted, context);
    const privateKey = privateKeyOf(from, context);
    if (privateKey instanceof RpcError) return privateKey;
    const completed = await complete(wanted, from, context);
    if (completed instanceof RpcError) return completed;
    const nonce = wanted.nonce ?? (await context.backend.pool.nextNonce(from, context));
    return toHex(signTransaction({ ...completed, nonce }, privateKey));
  },
});

/** The sender of a transaction that names none is the first account, as in Hardhat and anvil. */
function senderOf({ call }: PartialTransaction, { backend }: ContextOf<"settings">): Address {
  return (
    call.from ?? expectDefined(backend.settings.accounts[0], "an account of the development network").address
  );
}

/** All that the transaction lacks but its nonce. */
export function complete(
  wanted: PartialTransaction,
  from: Address,
  context: ContextOf<"chain" | "newestHead" | "gasPrices" | "simulator" | "spec" | "development">,
): Promise<Omit<UnsignedTransaction, "nonce"> | RpcError> {
  const { chain, simulator } = context.backend;
  return completeTransaction(wanted, context, async (call) => {
    const next = await nextBlock(context);
    const { number: blockNumber, gasLimit } = chain.head.header;
    const estimated = await simulator.run(
      { kind: "estimateGas", call: { ...call, from }, blockNumber, ...overridesOf(undefined, next) },
      context,
    );
    switch (estimated.kind) {
      case "returned":
        return estimated.gas;
      case "reverted":
      case "halted":
      case "refused":
        // It is sent nevertheless: after those that wait it may not fail, and blocks have failed ones, too.
        return gasLimit;
      default:
        return estimateError(estimated);
    }
  });
}

/**
 * The transaction in its block. Tools for Hardhat and anvil read what a transaction has done as soon as they know its hash, so the answer
 * waits for a block that comes unasked. It does not where callers mine, and not for ever: an earlier nonce may be missing.
 */
async function included(
  { hash, isMinedUnasked }: WalletSent,
  context: ContextOf<"chain" | "newestHead" | "inclusionWaits">,
): Promise<LocatedTransaction | undefined> {
  const { chain, newestHead, inclusionWaits } = context.backend;
  await newestHead();
  if (!isMinedUnasked) return chain.transactionByHash(hash);
  const limits = { timeoutMs: INCLUSION_TIMEOUT_MS, isAbandoned: () => context.isAbandoned() };
  return inclusionWaits.within(context.remoteHost, () => inclusionWaits.included(hash, limits));
}

function walletError(
  { code, facts = {} }: CodedError<WalletErrorCode>,
  from: Address,
  { gasLimit }: Pick<UnsignedTransaction, "gasLimit">,
  { backend: { chain } }: ContextOf<"chain">,
): RpcError {
  if (code === "unknownAccount") return unknownAccount(from);
  return walletRefusal(code, { ...facts, gasLimit, blockGasLimit: chain.head.header.gasLimit });
}
