import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes, includesBytes } from "../../primitives/hex.ts";

/**
 * Nodes that speak for a validator under another key than the validator's (ibft2.md#other-node-keys). Such a node is known by its
 * messages: only validators send and relay them, so a node that is none by its address, and brings a validator's message
 * first, is most likely that validator's. One that only pretends gets messages that are no secret, and takes nobody's
 * place for good, since each message that a node brings first puts it in front.
 */
export interface Speakers {
  /** Notes that `node` brought a message of `validator` first. */
  learn(validator: Address, node: Address): void;
  has(node: Address): boolean;
  /** Each of them once. */
  readonly nodes: readonly Address[];
  validatorsOf(node: Address): readonly Address[];
  /** Forgets those of other validators. */
  retain(validators: readonly Address[]): void;
}

/** For one validator: its node, and one more while it moves to another one. */
const NODES_PER_VALIDATOR = 2;

interface Speaking {
  readonly validator: Address;
  /** The newest first. */
  readonly nodes: readonly Address[];
}

export function createSpeakers(): Speakers {
  let speaking: readonly Speaking[] = [];
  let nodes: readonly Address[] = [];

  function replace(next: readonly Speaking[]): void {
    speaking = next;
    nodes = [...new Map(next.flatMap((one) => one.nodes.map((node) => [toKey(node), node]))).values()];
  }

  const nodesOf = (validator: Address): readonly Address[] =>
    speaking.find((one) => equalBytes(one.validator, validator))?.nodes ?? [];

  return {
    learn(validator, node) {
      const known = nodesOf(validator);
      const [newest] = known;
      if (newest !== undefined && equalBytes(newest, node)) return;
      const others = known.filter((other) => !equalBytes(other, node));
      const next = { validator, nodes: [node, ...others].slice(0, NODES_PER_VALIDATOR) };
      replace([...speaking.filter((one) => !equalBytes(one.validator, validator)), next]);
    },
    has: (node) => includesBytes(nodes, node),
    get nodes() {
      return nodes;
    },
    validatorsOf: (node) =>
      speaking.filter((one) => includesBytes(one.nodes, node)).map(({ validator }) => validator),
    retain(validators) {
      const kept = speaking.filter(({ validator }) => includesBytes(validators, validator));
      if (kept.length < speaking.length) replace(kept);
    },
  };
}
