import { clientVersion } from "../config/clientVersion.ts";
import { readSettings } from "../config/readSettings.ts";
import type { Settings } from "../config/settings.ts";
import { createLogger, type RootLogger } from "../observability/logger.ts";
import { type CommandLine, parseCommandLine } from "./commandLine.ts";
import { findCommand } from "./commands/commandTable.ts";
import { EXIT } from "./exitCodes.ts";
import { helpText, hiddenHelpText } from "./help.ts";
import { runNode, tellFault } from "./runNode.ts";
import { refuse, type World } from "./world.ts";

/**
 * The program from its arguments to its exit code: reads what is asked, checks it as a whole, then runs the node until
 * it is asked to stop or cannot go on. Bad input is answered on standard error; what happens later is logged.
 */
export async function run(args: readonly string[], world: World): Promise<number> {
  const commandLine = parseCommandLine(args);
  switch (commandLine.asksFor) {
    case "help":
      world.print(helpText(commandLine.words));
      return EXIT.ok;
    case "hiddenHelp":
      world.print(hiddenHelpText());
      return EXIT.ok;
    case "version":
      world.print(`${clientVersion()}\n`);
      return EXIT.ok;
    case undefined:
  }
  if (commandLine.problems.length > 0) return refuse(commandLine.problems.join("\n"), world);
  const command = findCommand(commandLine.words);
  if (command === undefined) return configureAndRun(commandLine, world);
  return command.start({
    ...commandLine,
    world,
    runNode: (settings, logger) => runToTheEnd(settings, logger, world),
  });
}

async function configureAndRun({ given, foreign }: CommandLine, world: World): Promise<number> {
  const settings = readSettings({ ...world, given, foreign });
  if (!settings.ok) return refuse(settings.rejection.message, world);
  return runToTheEnd(settings.value, createLogger(settings.value.logging), world);
}

async function runToTheEnd(settings: Settings, logger: RootLogger, world: World): Promise<number> {
  try {
    return await runNode(settings, logger, world);
  } catch (error) {
    return tellFault(error, logger);
  }
}
