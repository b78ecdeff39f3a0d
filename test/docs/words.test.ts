import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

/**
 * Words that this project once used in a meaning of its own, and what the field says instead (docs/glossary.md). A reader who
 * knows BFT or Ethereum clients needs no other list.
 */
const OLD_WORDS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/incumbent/i, "Besu"],
  [/correspondence/i, "message router"],
  [/performer/i, "effect handler"],
  [/committee/i, "validator set"],
  [/inbox/i, "message set, queue"],
  [/\bflaw|Flaw/, "error"],
  [/accus(ed|ation)/i, "equivocation"],
  [/sign ?of ?life/i, "heartbeat"],
  [/lost ?round/i, "failed round"],
  [/punctual/i, "time budget, on time"],
  [/killable/i, "worker pool"],
  [/tireless/i, "never yields"],
  [/bequest/i, "selfdestruct transfer"],
  [/patrol/i, "scrubber"],
  [/\bpartings?\b|Parting/, "disconnect"],
  [/errand/i, "coalesced task"],
  [/\bpatience|Patience/, "request budget, back-off"],
  [/parcel/i, "announcement"],
  [/\bstrangers?\b|Stranger|STRANGER/, "untrusted peer, outsider"],
  [/applicant/i, "incoming transaction, connection request"],
  [/census/i, "statistics, breakdown"],
  [/\btellers?\b|Teller/, "event emitter"],
  [/turned[- ]?away/i, "dropped, refused"],
  [/overtaken/i, "superseded"],
  [/\bdoors?\b|Doors?\b/, "server"],
  [/\baskers?\b|Asker/, "requester"],
  [/on[- ]?trial/i, "under validation"],
  [/verdict/i, "result"],
  [/\bwish(es)?\b|\bWish/, "round-change request, vote proposal, subscription parameters"],
  [/stand-in|standIn/, "placeholder"],
  [/\bwitness(ed)?\b|Witness/, "head marker, observed"],
  [/whoever/i, "the noun that is meant"],
  [/somebody/i, "the noun that is meant"],
  [/head ?mover/i, "chain writer"],
  [/(held|own|distant) ?words/i, "paused, last sent, far-future messages"],
  [/\bliars?\b|Liar|LIAR/, "Byzantine validator"],
  [/weather/i, "network conditions"],
  [/\bstorms?\b|STORM/, "faulty phase"],
  [/createWorld\b|WorldParts|realWorld/, "simulated network, network of real nodes"],
  [/\bdesks?\b|Desk/, "router"],
  [/livedTogether/, "runNetwork"],
  [/\bsaid(By|Ms)\b/, "reported by, sent"],
  [/isSuspect|suspectSenders/, "sender of a timed-out transaction"],
  [/\baLife\b|\bLife\b|OfThisLife/, "run, running node"],
];

/** They quote the old words: this list, and the changelog, which says what was renamed. */
const QUOTING = ["test/docs/words.test.ts", "CHANGELOG.md"];
/** Base64. */
const ENCODED = "src/evm/coreModules.ts";
/** Bytes on disk, which cannot be renamed. */
const ON_DISK = "ibex witness 1";

const files = [
  ...["config", "docs", "scripts", "src", "test"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".br"))
      .map((entry) => `${entry.parentPath}/${entry.name}`),
  ),
  ...readdirSync(".").filter((name) => name.endsWith(".md") || name === "Dockerfile"),
].filter((path) => !QUOTING.includes(path) && path !== ENCODED);

it("no file is named, and no line written, in words that only this project used", () => {
  const found = files.flatMap((path) => {
    const lines = readFileSync(path, "utf8").replaceAll(ON_DISK, "").split("\n");
    return OLD_WORDS.flatMap(([pattern, instead]) => [
      ...(pattern.test(path) ? [`${path}: rather ${instead}`] : []),
      ...lines.flatMap((line, at) =>
        pattern.test(line) ? [`${path}:${at + 1}: ${pattern.exec(line)?.[0]}, rather ${instead}`] : [],
      ),
    ]);
  });
  expect(files.length).toBeGreaterThan(1000);
  expect(found).toEqual([]);
});
