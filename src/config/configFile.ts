import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readNamedFile } from "../primitives/boundedFile.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { findRaw } from "./precedence.ts";
import type { RawOption, SourceReading } from "./rawOption.ts";
import { readToml } from "./toml.ts";

/** Reads the options of the file that the command line or the environment names; none when no file is named. */
export function readConfigFile(
  sources: { readonly raw: readonly RawOption[]; readonly workingDirectory: string },
  byEnvironment: readonly RawOption[],
): SourceReading {
  const onCommandLine = findRaw([sources.raw], "config-file");
  const inEnvironment = findRaw([byEnvironment], "config-file");
  const given = onCommandLine ?? inEnvironment;
  if (given === undefined) return { raw: [], unknown: [], problems: [], warnings: [] };
  if (onCommandLine !== undefined && inEnvironment?.source.kind === "environment") {
    return onlyProblem(
      `Both ${inEnvironment.source.variable}=${inEnvironment.text} and --config-file ${onCommandLine.text} specified. Please specify only one.`,
    );
  }
  const path = resolve(sources.workingDirectory, given.text);
  if (!existsSync(path)) {
    return onlyProblem(
      given.source.kind === "environment"
        ? `TOML file ${given.text} specified in environment variable ${given.source.variable} not found`
        : `Unable to read TOML configuration, file not found: ${given.text}`,
    );
  }
  try {
    return readToml(readNamedFile(path, MOST_BYTES), given.text);
  } catch (error) {
    return onlyProblem(`Unable to read TOML configuration file ${given.text}: ${messageOf(error)}`);
  }
}

const MOST_BYTES = 1024 * 1024;

function onlyProblem(problem: string): SourceReading {
  return { raw: [], unknown: [], problems: [problem], warnings: [] };
}
