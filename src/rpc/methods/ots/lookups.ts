import { creatorOf, newestPlace } from "../../../accounts/indexReader.ts";
import type { ChainReader } from "../../../chain/chainReader.ts";
import { hasNoCode } from "../../../execution/emptyAccounts.ts";
import type { Address } from "../../../primitives/address.ts";
import { equalBytes, toHex } from "../../../primitives/hex.ts";
import { transactionAt } from "../../../types/block.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeOtterscanNumber } from "../../parameters/explorerParameters.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { ADDRESS, HASH, OBJECT, OTTERSCAN_NUMBER, orNull } from "../../schemas.ts";

export const otsGetTransactionBySenderAndNonce = defineMethod({
  name: "ots_getTransactionBySenderAndNonce",
  namespace: "OTS",
  summary: "Hash of the transaction that an account sent with a nonce.",
  parameters: [
    required("sender", decodeAddress, ADDRESS),
    required("nonce", decodeOtterscanNumber, OTTERSCAN_NUMBER),
  ],
  result: { name: "hash", schema: orNull(HASH) },
  ports: ["chain"],
  run([sender, nonce], { backend: { chain } }) {
    const number = blockOfNonce(chain, sender, nonce);
    if (number === "before") return ERRORS.worldStateUnavailable;
    const block = number === undefined ? undefined : chain.blockByNumber(number);
    const found = block?.transactions.find((one) => one.nonce === nonce && equalBytes(one.sender, sender));
    return found === undefined ? null : toHex(found.hash);
  },
});

export const otsGetContractCreator = defineMethod({
  name: "ots_getContractCreator",
  namespace: "OTS",
  summary: "Who created a contract that exists, and in which transaction.",
  parameters: [required("contract", decodeAddress, ADDRESS)],
  result: { name: "creator", schema: orNull(OBJECT) },
  ports: ["chain", "accounts"],
  async run([contract], { backend: { chain, accounts } }) {
    if (accounts === undefined) return ERRORS.accountIndexOff;
    const account = chain.stateAt(chain.head.header.number)?.account(contract);
    if (account === undefined || hasNoCode(account)) return null;
    const newest = await accounts.read(chain, (view) => newestPlace(view, "creation", contract));
    if (newest === undefined) return null;
    const block = chain.blockByNumber(BigInt(newest.block));
    const transaction = block && transactionAt(block, newest.position);
    return transaction === undefined
      ? null
      : { hash: toHex(transaction.hash), creator: toHex(creatorOf(newest)) };
  },
});

/** The block after which an account's nonce is above this one for the first time, by bisection over the stored states: `before` these, or at the first. */
function blockOfNonce(chain: ChainReader, sender: Address, nonce: bigint): bigint | "before" | undefined {
  const isBeyond = (number: bigint): boolean => (chain.stateAt(number)?.account(sender)?.nonce ?? 0n) > nonce;
  let high = chain.head.header.number;
  let low = chain.historyStart.states;
  if (!isBeyond(high)) return undefined;
  if (low > 0n && isBeyond(low)) return "before";
  while (low < high) {
    const middle = (low + high) / 2n;
    if (isBeyond(middle)) high = middle;
    else low = middle + 1n;
  }
  return high;
}
