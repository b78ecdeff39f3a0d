import { checkState } from "../../../src/state/verifyState.ts";
import type { Database } from "../../../src/storage/database.ts";
import { findDamage } from "../../../src/storage/databaseCheck.ts";

/** The first damage that `ibex database check` would find in the stores of a chain; undefined when there is none. */
export async function damageIn(database: Database): Promise<string | undefined> {
  for await (const damage of findDamage(database)) return damage;
  return (await checkState(database)).damages[0];
}
