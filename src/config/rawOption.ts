import type { OptionName } from "./options.ts";

/** What somebody wrote for an option, in the spelling of the command line, and where. */
export interface RawOption {
  readonly name: OptionName;
  readonly text: string;
  readonly source: Source;
}

export type Source =
  | { readonly kind: "commandLine" }
  | { readonly kind: "environment"; readonly variable: string }
  | { readonly kind: "file"; readonly path: string; readonly key: string; readonly line: number | undefined }
  | { readonly kind: "profile"; readonly profile: string }
  | { readonly kind: "preset" }
  | { readonly kind: "default" };

/** What somebody wrote for a name that only other releases of the incumbent know. */
export interface UnknownOption {
  /** Without dashes. */
  readonly spelling: string;
  readonly text: string;
  readonly source: Source;
}

/** What one source gave: texts to be read later, and what is wrong or doubtful with the source itself. */
export interface SourceReading {
  readonly raw: readonly RawOption[];
  readonly foreign: readonly UnknownOption[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Where a value came from, to follow "given". */
export function describeSource(source: Source): string {
  switch (source.kind) {
    case "commandLine":
      return "on the command line";
    case "environment":
      return `by the environment variable ${source.variable}`;
    case "file":
      return `as ${source.key} in ${source.path}${source.line === undefined ? "" : `, line ${source.line}`}`;
    case "profile":
      return `by the profile ${source.profile}`;
    case "preset":
      return "by the development network";
    case "default":
      return "by default";
  }
}

/** True when the operator asked for it, as opposed to what a profile or the program supplies. */
export function isAskedFor({ kind }: Source): boolean {
  return kind === "commandLine" || kind === "environment" || kind === "file";
}

/** What somebody wrote, quoted in a problem: its own line ends are shown, so that a problem stays one line. */
export function onOneLine(text: string): string {
  return text.replace(/\r\n|[\n\r\u2028\u2029]/g, "\\n");
}
