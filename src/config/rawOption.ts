import type { OptionName } from "./options.ts";

/** An option as the operator wrote it, in the form of the command line, and its source. */
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

/** An option that only other releases of Besu know, as the operator wrote it. */
export interface UnknownOption {
  /** Name of the option without dashes. */
  readonly spelling: string;
  readonly text: string;
  readonly source: Source;
}

/** The raw options of one source, and the problems and warnings about the source itself. */
export interface SourceReading {
  readonly raw: readonly RawOption[];
  readonly unknown: readonly UnknownOption[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Describes a source, worded so that it can follow "given". */
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

/** True for values that the operator gave; false for those of a profile or the program. */
export function isAskedFor({ kind }: Source): boolean {
  return kind === "commandLine" || kind === "environment" || kind === "file";
}

/** Escapes line breaks in quoted input, so that a problem stays on one line. */
export function onOneLine(text: string): string {
  return text.replace(/\r\n|[\n\r\u2028\u2029]/g, "\\n");
}
