import type { Development } from "../dev/development.ts";
import type { Endpoints } from "../rpc/server/serverTable.ts";
import type { LiveSettings } from "./settings/liveSettings.ts";

/** A node as who started it has it. */
export interface RunningNode {
  readonly endpoints: Endpoints;
  /** How the development network makes its blocks; undefined where it has no comforts, and elsewhere. */
  readonly mining: Mining | undefined;
  readonly nodeAddress: string;
  readonly isValidator: boolean;
  readonly headNumber: bigint;
  /** Resolves when the node must end because the disk or consensus failed. */
  readonly failure: Promise<unknown>;
  /** Takes over what may change while the node runs. */
  readonly live: LiveSettings;
  /** Stops block production and the servers, then closes the database. */
  stop(): Promise<void>;
}

/** How blocks are made: at the genesis file's period unless callers chose another way, which a restart keeps. */
export type Mining = Pick<Development, "isModeDefault" | "isAutomatic" | "intervalMs">;
