import type { NodeAddress } from "../../../src/network/dialer.ts";
import type { Identity } from "../../../test/network/identities.ts";
import type { RpcClient } from "../httpClient.ts";

/** The attacked validator, one of four, and the attacker's means. */
export interface Target {
  readonly address: NodeAddress;
  readonly client: RpcClient;
  /** Key of another validator of the network, whose own process is not connected to the target. */
  readonly byzantine: Identity;
  headNumber(): Promise<number>;
}

/** Runs until `isOver`. */
export type Attack = (target: Target, isOver: () => boolean) => Promise<void>;
