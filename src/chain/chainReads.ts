import { missing } from "../storage/checksum.ts";
import type { NamedHeader } from "../types/block.ts";
import { decodeExtraData } from "../types/extraData.ts";
import type { ChainReader } from "./chainReader.ts";
import type { ChainStores } from "./chainStores.ts";
import type { ValidatorSets } from "./validators.ts";

/** Reads of a chain that do not depend on who moves its head. */
export type ChainReads = Omit<ChainReader, "head" | "historyStart" | "onHeadChanged">;

interface ChainReadsParts {
  readonly genesis: NamedHeader;
  readonly validators: Pick<ValidatorSets, "after">;
  /** The head of the stores. */
  head(): NamedHeader;
}

/** Reads the chain from its stores, in which the head's state is that of `head`. */
export function createChainReads(
  { blocks, world }: Pick<ChainStores, "blocks" | "world">,
  { genesis, validators, head }: ChainReadsParts,
): ChainReads {
  return {
    genesis,
    headerByNumber: (number) => blocks.header(number),
    headerByHash: (hash) => blocks.headerByHash(hash),
    blockByNumber: (number) => blocks.block(number),
    blockByHash: (hash) => blocks.blockByHash(hash),
    transactionByHash: (hash) => blocks.transactionByHash(hash),
    validatorsFor(number) {
      const newest = head();
      if (number === newest.header.number + 1n) return validators.after(newest).validators;
      const header = number > 0n ? blocks.header(number)?.header : undefined;
      const extra = header === undefined ? undefined : decodeExtraData(header.extraData);
      return extra?.ok ? extra.value.validators : undefined;
    },
    stateAt(number) {
      const newest = head().header.number;
      const state = number === newest ? world.head : world.at(number);
      // All states from the start of the states up to the head are stored, so an absent one is damage.
      if (state === undefined && number >= blocks.historyStart.states && number < newest)
        throw missing(`the state of block ${number}`);
      return state;
    },
  };
}
