import type { NodeAddress } from "../../../src/network/dialer.ts";
import type { Identity } from "../../../test/network/identities.ts";
import type { RpcClient } from "../httpClient.ts";

/** The validator that is attacked, one of four, and what its enemies have. */
export interface Target {
  readonly address: NodeAddress;
  readonly client: RpcClient;
  /** Key of another validator of the network. Its own process is not connected to the one that is attacked. */
  readonly liar: Identity;
  headNumber(): Promise<number>;
}

/** Goes on until it is over. */
export type Attack = (target: Target, isOver: () => boolean) => Promise<void>;
