import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import type { HttpSettings } from "../../config/settings.ts";
import type { RpcSettings } from "../../rpc/ports.ts";
import type { ConnectionMemory } from "../../rpc/server/sharedConnections.ts";

/** What a thread that answers callers is started with. */
export interface RpcThreadData {
  readonly databasePath: string;
  /** Without the genesis accounts, which are not needed here. */
  readonly spec: ChainSpec;
  /** --rpc-gas-cap; 0 for none. */
  readonly gasCap: bigint;
  readonly http: HttpSettings;
  /** Memory of the shown head (shownHead.ts) and of the log levels. */
  readonly shownHead: SharedArrayBuffer;
  readonly logLevels: SharedArrayBuffer;
  /** Memory of the price floors (sharedFloors.ts), in the place of those in the settings. */
  readonly floors: SharedArrayBuffer;
  readonly settings: RpcSettings;
  readonly connections: ConnectionMemory;
  /** Number of the thread, from 0. */
  readonly index: number;
  readonly isMetered: boolean;
}
