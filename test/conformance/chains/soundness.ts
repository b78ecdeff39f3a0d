import { checkState } from "../../../src/state/check.ts";
import type { Database } from "../../../src/storage/database.ts";
import { findDamage } from "../../../src/storage/databaseCheck.ts";

/** What `ibex database check` would find in the stores of a chain, first of all; undefined when they are sound. */
export async function faultIn(database: Database): Promise<string | undefined> {
  for await (const damage of findDamage(database)) return damage;
  return (await checkState(database)).damages[0];
}
