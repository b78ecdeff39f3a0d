import type { ChainReader } from "../../../chain/chainReader.ts";
import type { Address } from "../../../primitives/address.ts";
import { expectDefined } from "../../../primitives/assert.ts";
import { toKey } from "../../../primitives/byteKey.ts";
import { toHex } from "../../../primitives/hex.ts";
import { EventLoopPacer } from "../../../primitives/pacer.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { ERRORS, invalidParams } from "../../errors/errors.ts";
import { defineMethod, optional } from "../../method.ts";
import { decodeNumberOrTag, type NumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import { listOf, NUMBER_OR_TAG, OBJECT } from "../../schemas.ts";

export const ibftGetSignerMetrics = defineMethod({
  name: "ibft_getSignerMetrics",
  namespace: "IBFT",
  summary:
    "How many blocks each validator proposed, from `from` on and before `to`; in the last 100 blocks by default.",
  parameters: [
    optional("from", decodeNumberOrTag, NUMBER_OR_TAG),
    optional("to", decodeNumberOrTag, NUMBER_OR_TAG),
  ],
  result: { name: "signers", schema: listOf(OBJECT) },
  ports: ["chain"],
  async run([from, to], context) {
    const { chain } = context.backend;
    const range = rangeOf(chain, from, to);
    if (range.from < 0n || range.to < 0n) return ERRORS.internalError;
    if (range.from > 0n && range.from < chain.historyStart.headers) return ERRORS.historyNotStored;
    if (range.from >= range.to) return invalidParams("the range of blocks is empty");
    return (await countProposals(chain, range, () => context.isAbandoned())).map(
      ({ address, count, last }) => ({
        address: toHex(address),
        proposedBlockCount: toQuantity(count),
        lastProposedBlockNumber: toQuantity(last),
      }),
    );
  },
});

/** `to` is exclusive. */
interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

const DEFAULT_BLOCKS = 100n;

function rangeOf(chain: ChainReader, from: NumberOrTag | undefined, to: NumberOrTag | undefined): Range {
  const head = chain.head.header.number;
  let end = to === undefined ? head : numberOf(chain, to);
  if (end > head) end = head;
  if (from !== undefined) return { from: numberOf(chain, from), to: end };
  return { from: head > DEFAULT_BLOCKS ? head - DEFAULT_BLOCKS : 0n, to: end };
}

interface Proposer {
  readonly address: Address;
  count: number;
  last: bigint;
}

/** Proposers in order of appearance, with the coinbase of genesis; then the validators of block `to` without proposals. */
async function countProposals(
  chain: ChainReader,
  { from, to }: Range,
  isAbandoned: () => boolean,
): Promise<readonly Proposer[]> {
  const proposers = new Map<string, Proposer>();
  const proposerOf = (address: Address): Proposer => {
    const key = toKey(address);
    const known = proposers.get(key) ?? { address, count: 0, last: 0n };
    proposers.set(key, known);
    return known;
  };
  const pacer = new EventLoopPacer();
  for (let number = from; number < to && !isAbandoned(); number++) {
    const proposer = proposerOf(
      expectDefined(chain.headerByNumber(number), `header ${number}`).header.coinbase,
    );
    proposer.count += 1;
    proposer.last = number;
    if (pacer.isDue()) await pacer.yield();
  }
  for (const validator of chain.validatorsFor(to) ?? []) proposerOf(validator);
  return [...proposers.values()];
}
