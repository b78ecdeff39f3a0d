import { readDataFolder } from "../../config/readSettings.ts";
import { findDatabase } from "../databasePlace.ts";
import { refuse } from "../processIo.ts";
import { type Command, defineCommand, type Invocation } from "./command.ts";

export const DATABASE_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "database check",
    help: "Look for damage in the whole database of a stopped node. Ends with 0 when it is sound and with 74 when it is not.",
    nodeOptions: ["data-path", "config-file"],
    run: async (invocation) => {
      const { checkDatabase } = await import("../checkDatabase.ts");
      return lookIntoDatabase(invocation, checkDatabase);
    },
  }),
  defineCommand({
    words: "database info",
    help: "Show schema version, newest block and size of that database.",
    nodeOptions: ["data-path", "config-file"],
    run: async (invocation) => {
      const { printDatabaseInfo } = await import("../databaseInfo.ts");
      return lookIntoDatabase(invocation, printDatabaseInfo);
    },
  }),
];

async function lookIntoDatabase(
  { io, given }: Invocation,
  look: typeof import("../checkDatabase.ts").checkDatabase,
): Promise<number> {
  const folder = readDataFolder({ ...io, given });
  if (!folder.ok) return refuse(folder.error.message, io);
  const place = findDatabase(folder.value.dataPath);
  if (!place.ok) return refuse(place.error.message, io);
  return look(place.value, (line) => io.print(`${line}\n`));
}
