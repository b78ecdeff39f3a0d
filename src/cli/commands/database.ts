import { readDataFolder } from "../../config/readSettings.ts";
import { switchType } from "../../config/valueTypes.ts";
import { type DatabasePaths, findDatabase } from "../databasePaths.ts";
import { PrintedOutput } from "../printedOutput.ts";
import { type ProcessIo, refuse } from "../processIo.ts";
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
      return withDatabase(invocation, (paths, { printLine }) => printDatabaseInfo(paths, printLine));
    },
  }),
  defineCommand({
    words: "database migrate",
    help:
      "Bring the database of a stopped node, which an older version of Ibex wrote, to the schema version of this one. It " +
      "first prints what it does, how long it takes and how much disk space it needs. After a stop or a kill, run it again " +
      "to continue. First read docs/operating/upgrading.md.",
    options: {
      "dry-run": { type: switchType, help: "Only print what would be done." },
    },
    nodeOptions: ["data-path", "config-file"],
    async run(invocation) {
      const { migrateDatabase } = await import("../migrateDatabase.ts");
      const isStopped = listen(invocation.io);
      const isDryRun = invocation.values["dry-run"] === true;
      return withDatabase(invocation, (paths, output) =>
        migrateDatabase({ paths, isDryRun, isStopped, output }),
      );
    },
  }),
];

/** Returns a function that tells whether a stop was requested. */
function listen(io: ProcessIo): () => boolean {
  let isStopped = false;
  void io.awaitStop().received.then(() => {
    isStopped = true;
  });
  return () => isStopped;
}

async function withDatabase(
  { io, raw }: Pick<Invocation, "io" | "raw">,
  action: (paths: DatabasePaths, output: PrintedOutput) => Promise<number>,
): Promise<number> {
  const folder = readDataFolder({ ...io, raw });
  if (!folder.ok) return refuse(folder.error.message, io);
  const paths = findDatabase(folder.value.dataPath);
  if (!paths.ok) return refuse(paths.error.message, io);
  return action(paths.value, new PrintedOutput(io));
}
