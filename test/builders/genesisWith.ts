import { readFileSync } from "node:fs";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";

/** The development network's genesis file with changes to its config. */
export function genesisWith(config: object): string {
  const genesis = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as { config: object };
  return JSON.stringify({ ...genesis, config: { ...genesis.config, ...config } });
}
