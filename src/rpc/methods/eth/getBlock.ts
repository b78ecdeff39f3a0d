import type { ChainReader } from "../../../chain/chainReader.ts";
import type { StoredBlock } from "../../../types/block.ts";
import { RpcError } from "../../errors/errors.ts";
import { type Answer, defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag, findBlock } from "../../parameters/blockParameter.ts";
import { decodeBoolean, decodeHash } from "../../parameters/parameters.ts";
import { blockAnswer } from "../../results/blockResult.ts";
import { BOOLEAN, HASH, NUMBER_OR_TAG, OBJECT, orNull } from "../../schemas.ts";

const RESULT = { name: "block", schema: orNull(OBJECT) };
const VERBOSE = required("verbose", decodeBoolean, BOOLEAN);

export const ethGetBlockByNumber = defineMethod({
  name: "eth_getBlockByNumber",
  namespace: "ETH",
  summary: "A block by number or tag, with its transactions in full or by hash.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG), VERBOSE],
  result: RESULT,
  ports: ["chain"],
  run([choice, isVerbose], { backend }) {
    const block = findBlock(backend.chain, choice);
    return block instanceof RpcError ? block : show(backend.chain, block, isVerbose);
  },
});

export const ethGetBlockByHash = defineMethod({
  name: "eth_getBlockByHash",
  namespace: "ETH",
  summary: "A block by hash, with its transactions in full or by hash.",
  parameters: [required("hash", decodeHash, HASH), VERBOSE],
  result: RESULT,
  ports: ["chain"],
  run([hash, isVerbose], { backend }) {
    return show(backend.chain, backend.chain.blockByHash(hash), isVerbose);
  },
});

function show(
  chain: ChainReader,
  block: StoredBlock | undefined,
  isVerbose: boolean,
): Answer | Promise<Answer> {
  return block === undefined ? null : blockAnswer(block, isVerbose ? "transactions" : "hashes", chain);
}
