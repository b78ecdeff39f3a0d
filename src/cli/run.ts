import { clientVersion } from "../config/clientVersion.ts";
import { type Configuration, readConfiguration } from "../config/readSettings.ts";
import { createLogger, type RootLogger } from "../observability/logger.ts";
import { type CommandLine, parseCommandLine } from "./commandLine.ts";
import { findCommand } from "./commands/commandTable.ts";
import { EXIT } from "./exitCodes.ts";
import { helpText, hiddenHelpText } from "./help.ts";
import { type ProcessIo, refuse } from "./processIo.ts";
import { reportFault, runNode } from "./runNode.ts";

/**
 * Runs the program from its arguments to its exit code: parses and checks the input, then runs a command or the node.
 * Invalid input is reported on standard error; later errors are logged.
 */
export async function run(args: readonly string[], io: ProcessIo): Promise<number> {
  const commandLine = parseCommandLine(args);
  switch (commandLine.immediate) {
    case "help":
      io.print(helpText(commandLine.words));
      return EXIT.ok;
    case "hiddenHelp":
      io.print(hiddenHelpText());
      return EXIT.ok;
    case "version":
      io.print(`${clientVersion()}\n`);
      return EXIT.ok;
    case undefined:
  }
  if (commandLine.problems.length > 0) return refuse(commandLine.problems.join("\n"), io);
  const command = findCommand(commandLine.words);
  if (command === undefined) return configureAndRun(commandLine, io);
  return command.start({
    ...commandLine,
    io,
    runNode: (configuration, logger) => runToTheEnd(configuration, logger, io),
  });
}

async function configureAndRun({ raw, unknown }: CommandLine, io: ProcessIo): Promise<number> {
  const configuration = readConfiguration({ ...io, raw, unknown });
  if (!configuration.ok) return refuse(configuration.error.message, io);
  return runToTheEnd(configuration.value, createLogger(configuration.value.settings.logging), io);
}

async function runToTheEnd(configuration: Configuration, logger: RootLogger, io: ProcessIo): Promise<number> {
  try {
    return await runNode(configuration, logger, io);
  } catch (error) {
    return reportFault(error, logger);
  }
}
