import { readDataFolder } from "../../config/readSettings.ts";
import { findDatabase } from "../databasePaths.ts";
import { refuse } from "../processIo.ts";
import { type Command, defineCommand, type Invocation } from "./command.ts";

export const DATABASE_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "database check",
    help: "Check the whole database of a stopped node for damage. Exits with 0 when it is sound and with 74 when it is not.",
    nodeOptions: ["data-path", "config-file"],
    run: async (invocation) => {
      const { checkDatabase } = await import("../checkDatabase.ts");
      return withDatabase(invocation, checkDatabase);
    },
  }),
  defineCommand({
    words: "database info",
    help: "Show schema version, newest block and size of the database of a stopped node.",
    nodeOptions: ["data-path", "config-file"],
    run: async (invocation) => {
      const { printDatabaseInfo } = await import("../databaseInfo.ts");
      return withDatabase(invocation, printDatabaseInfo);
    },
  }),
];

async function withDatabase(
  { io, raw }: Invocation,
  action: typeof import("../checkDatabase.ts").checkDatabase,
): Promise<number> {
  const folder = readDataFolder({ ...io, raw });
  if (!folder.ok) return refuse(folder.error.message, io);
  const paths = findDatabase(folder.value.dataPath);
  if (!paths.ok) return refuse(paths.error.message, io);
  return action(paths.value, (line) => io.print(`${line}\n`));
}
