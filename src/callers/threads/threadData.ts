import type { ViewLimits } from "../../chain/view/limits.ts";
import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import type { RpcSettings } from "../../rpc/ports.ts";
import type { ThreadServerName } from "../../rpc/server/serverTable.ts";
import type { PostedToThread } from "../../rpc/threads/messages.ts";
import type { IssuedKeys } from "../access/access.ts";
import type { HeldMemory } from "./heldMemory.ts";
import type { ServerSettings } from "./serverSettings.ts";

/** What a thread that answers callers works with, known once the node is open. */
export interface RpcThreadData {
  readonly databasePath: string;
  /** The index by address, which the main thread has open; undefined when it is off. */
  readonly accountIndex: { readonly path: string; readonly maxBytes: number } | undefined;
  /** The chain's rules without the genesis accounts, which are not needed here. */
  readonly spec: ChainSpec;
  /** --rpc-gas-cap; 0 for none. */
  readonly gasCap: bigint;
  /** Sizes of the caches of its view of the chain. */
  readonly viewLimits: ViewLimits;
  /** Settings of the servers without the users. */
  readonly servers: ServerSettings;
  /** Memory of the shown head (shownHead.ts) and of the log levels. */
  readonly shownHead: SharedArrayBuffer;
  readonly logLevels: SharedArrayBuffer;
  /** Memory of the price floors (sharedFloors.ts), in the place of those in the settings. */
  readonly floors: SharedArrayBuffer;
  readonly settings: RpcSettings;
  /** Memory of what callers have on all threads. */
  readonly held: HeldMemory;
  /** Memory of the events that threads want (rpc/threads/interests.ts), and of the newest number of a subscription. */
  readonly interests: SharedArrayBuffer;
  readonly subscriptions: SharedArrayBuffer;
  /** Number of the thread, from 0. */
  readonly index: number;
  readonly isMetered: boolean;
  /** Public keys of the tokens that this node issues. */
  readonly issuedKeys: IssuedKeys;
}

/** Descriptors of sockets that listen already. */
export type Sockets = { readonly [Name in ThreadServerName]?: number | undefined };

/** The first message to a thread, whenever it starts: its data, and sockets that listen already. */
export interface OpenMessage {
  readonly kind: "open";
  readonly data: RpcThreadData;
  readonly sockets: Sockets;
}

/** What a thread is sent. */
export type ThreadMessage = OpenMessage | PostedToThread;
