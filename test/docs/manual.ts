import { readDocument } from "./documents.ts";

/** A block of shell commands of a page, in the order of the page. */
export interface ShellBlock {
  /** From the root of the repository. */
  readonly page: string;
  readonly code: string;
  /** The block of text right after it: what it prints, with "…" for what differs each time. */
  readonly printed: string | undefined;
}

const FENCED = /^ *```(\S*)[^\n]*\n([\s\S]*?)^ *```$/gm;

export function shellBlocksOf(page: string): readonly ShellBlock[] {
  const text = readDocument(page);
  const fenced = [...text.matchAll(FENCED)].map((match) => ({
    language: match[1] ?? "",
    code: unindented(match[2] ?? ""),
    from: match.index,
    to: match.index + match[0].length,
  }));
  return fenced.flatMap(({ language, code, to }, index) => {
    if (language !== "sh") return [];
    const next = fenced[index + 1];
    const isAnswer = next?.language === "text" && text.slice(to, next.from).trim() === "";
    return [{ page, code, printed: isAnswer ? next.code : undefined }];
  });
}

/** In lists blocks are indented. */
function unindented(code: string): string {
  const [, indent = ""] = /^( *)/.exec(code) ?? [];
  return code.replaceAll(new RegExp(`^${indent}`, "gm"), "");
}

/** Whether `output` is what a page says, where "…" stands for anything. */
export function isAsPrinted(output: string, printed: string): boolean {
  const parts = printed
    .trim()
    .split("…")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[\\s\\S]*")}$`).test(output.trim());
}
