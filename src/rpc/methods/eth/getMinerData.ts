import { parametersAt } from "../../../chainspec/ibftParameters.ts";
import { toHex } from "../../../primitives/hex.ts";
import type { StoredBlock } from "../../../types/block.ts";
import { effectiveGasPrice } from "../../../types/transaction.ts";
import { RpcError } from "../../errors/errors.ts";
import { defineMethod, type Json, required } from "../../method.ts";
import { decodeNumberOrTag, findBlock } from "../../parameters/blockParameter.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import type { RpcBackend } from "../../ports.ts";
import { HASH, NUMBER_OR_TAG, OBJECT, orNull } from "../../schemas.ts";

const RESULT = { name: "minerData", schema: orNull(OBJECT) };

export const ethGetMinerDataByBlockNumber = defineMethod({
  name: "eth_getMinerDataByBlockNumber",
  namespace: "ETH",
  summary: "What the proposer of a block earned, by number or tag.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG)],
  result: RESULT,
  ports: ["chain", "spec"],
  run([choice], { backend }) {
    const block = findBlock(backend.chain, choice);
    return block instanceof RpcError ? block : show(backend, block);
  },
});

export const ethGetMinerDataByBlockHash = defineMethod({
  name: "eth_getMinerDataByBlockHash",
  namespace: "ETH",
  summary: "What the proposer of a block earned, by hash.",
  parameters: [required("hash", decodeHash, HASH)],
  result: RESULT,
  ports: ["chain", "spec"],
  run([hash], { backend }) {
    return show(backend, backend.chain.blockByHash(hash));
  },
});

/** Amounts are 32 bytes wide in this method only. The coinbase is the proposer even when another account is paid. */
function show({ spec }: Pick<RpcBackend, "spec">, block: StoredBlock | undefined): Json {
  if (block === undefined) return null;
  const { header, transactions, receipts, totalDifficulty } = block;
  const reward = parametersAt(spec.ibft, header.number).blockRewardWei;
  let fees = 0n;
  for (const [index, transaction] of transactions.entries()) {
    fees += effectiveGasPrice(transaction, header.baseFeePerGas) * (receipts[index]?.gasUsed ?? 0n);
  }
  return {
    netBlockReward: word(reward + fees),
    staticBlockReward: word(reward),
    transactionFee: word(fees),
    uncleInclusionReward: word(0n),
    uncleRewards: [],
    coinbase: toHex(header.coinbase),
    extraData: toHex(header.extraData),
    difficulty: word(header.difficulty),
    totalDifficulty: word(totalDifficulty),
  };
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
