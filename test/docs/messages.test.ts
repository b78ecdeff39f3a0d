import { expect, it } from "vitest";
import { type Beyond, MESSAGES } from "../../src/rpc/threads/messages.ts";
import type { CreditLimit } from "../../src/workers/channel/credit.ts";
import { readDocument } from "./documents.ts";

interface Row {
  readonly from: string;
  readonly kind: string;
  readonly most: string;
  readonly beyond: string;
}

/** The table of what threads send one another, a row for each kind of message. */
function rowsOfDocument(): readonly Row[] {
  const [, table = ""] = readDocument("docs/architecture.md").split(
    "| from | message | at most | beyond |\n",
  );
  let from = "";
  return (table.split("\n\n")[0] ?? "")
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [, sender = "", kinds = "", most = "", beyond = ""] = line.split("|").map((cell) => cell.trim());
      from = sender === "" ? from : sender;
      return [...kinds.matchAll(/`(\w+)`/g)].map(([, kind = ""]) => ({ from, kind, most, beyond }));
    });
}

const MB = 1024 * 1024;

function textOf({ messages, bytes, of }: CreditLimit): string {
  const number = messages?.toLocaleString("en-US");
  const size = bytes === undefined ? undefined : `${bytes / MB} MB`;
  return `${[number, size].filter((part) => part !== undefined).join(" and ")} of ${of}`;
}

it("the architecture's table has the limit of every kind of message between threads, and what becomes of more", () => {
  const kinds: [string, { readonly from: string; readonly most?: CreditLimit; readonly beyond?: Beyond }][] =
    Object.entries(MESSAGES);
  const limited = kinds.flatMap(([kind, { from, most, beyond }]) =>
    most === undefined || beyond === undefined ? [] : [{ from, kind, most: textOf(most), beyond }],
  );
  const rows = rowsOfDocument();
  const shortened = rows.map(({ most, beyond, ...row }, index) => ({
    ...row,
    most: most.slice(0, limited[index]?.most.length),
    beyond: beyond.slice(0, limited[index]?.beyond.length),
  }));
  expect(shortened).toEqual(limited);
});
