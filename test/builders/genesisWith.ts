import { readFileSync } from "node:fs";
import { DEV_CANCUN_GENESIS_FILE } from "../../src/config/devNetwork.ts";

/** The genesis file of the development network before Prague, with changes to its config. */
export function genesisWith(config: object): string {
  const genesis = JSON.parse(readFileSync(DEV_CANCUN_GENESIS_FILE, "utf8")) as { config: object };
  return JSON.stringify({ ...genesis, config: { ...genesis.config, ...config } });
}
