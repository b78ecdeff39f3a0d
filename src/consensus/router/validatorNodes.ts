import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes, includesBytes } from "../../primitives/hex.ts";

/** Nodes that may speak for one validator: its node, and one more while it moves to another one. */
const NODES_PER_VALIDATOR = 2;

interface KnownNodes {
  readonly validator: Address;
  /** The newest first. */
  readonly nodes: readonly Address[];
}

/**
 * Nodes that speak for a validator under another key than the validator's (ibft2.md#other-node-keys). Such a node is known by its
 * messages: only validators send and relay them, so a node that is none by its address, and brings a validator's message
 * first, is most likely that validator's. One that only pretends gets messages that are no secret, and takes nobody's
 * place for good, since each message that a node brings first puts it in front.
 */
export class ValidatorNodes {
  private byValidator: readonly KnownNodes[] = [];
  private known: readonly Address[] = [];

  /** Notes that `node` brought a message of `validator` first. */
  learn(validator: Address, node: Address): void {
    const known = this.nodesOf(validator);
    const [newest] = known;
    if (newest !== undefined && equalBytes(newest, node)) return;
    const others = known.filter((other) => !equalBytes(other, node));
    const next = { validator, nodes: [node, ...others].slice(0, NODES_PER_VALIDATOR) };
    this.replace([...this.byValidator.filter((one) => !equalBytes(one.validator, validator)), next]);
  }

  has(node: Address): boolean {
    return includesBytes(this.known, node);
  }

  /** All nodes that speak for validators, each once. */
  get nodes(): readonly Address[] {
    return this.known;
  }

  validatorsOf(node: Address): readonly Address[] {
    return this.byValidator.filter((one) => includesBytes(one.nodes, node)).map(({ validator }) => validator);
  }

  /** Forgets the nodes of all other validators. */
  retain(validators: readonly Address[]): void {
    const kept = this.byValidator.filter(({ validator }) => includesBytes(validators, validator));
    if (kept.length < this.byValidator.length) this.replace(kept);
  }

  private replace(next: readonly KnownNodes[]): void {
    this.byValidator = next;
    this.known = [...new Map(next.flatMap((one) => one.nodes.map((node) => [toKey(node), node]))).values()];
  }

  private nodesOf(validator: Address): readonly Address[] {
    return this.byValidator.find((one) => equalBytes(one.validator, validator))?.nodes ?? [];
  }
}
