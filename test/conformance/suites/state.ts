import { readVectorJson } from "../../vectors.ts";
import type { Case, Suite } from "../suite.ts";
import { vectorFiles } from "../vectorFiles.ts";
import { checkStateTest, type StateTestFile } from "./stateTest.ts";

/** GeneralStateTests of the Ethereum Foundation, all forks: state root and logs, or refusal. */
export const STATE: Suite = {
  name: "state",
  total: 14_822,
  every: 100,
  cases: () => vectorFiles("state-tests").flatMap(casesOf),
};

function casesOf(path: string): Case[] {
  return Object.entries(readFileOnce(path)).flatMap(([title, { post }]) =>
    Object.entries(post).flatMap(([fork, expectations]) =>
      expectations.map((_, index) => ({
        id: `${path.split("/").slice(0, -1).join("/")} ${title} ${fork} ${index}`,
        run: () => {
          const test = readFileOnce(path)[title];
          const expected = test?.post[fork]?.[index];
          if (test === undefined || expected === undefined) throw new Error("the file has changed");
          return checkStateTest(test, fork, expected);
        },
      })),
    ),
  );
}

/** Caches only the latest file: cases are ordered by file, and all files together do not fit into memory. */
function readFileOnce(path: string): StateTestFile {
  if (latest?.path !== path) latest = { path, file: readVectorJson<StateTestFile>("state-tests", path) };
  return latest.file;
}

let latest: { readonly path: string; readonly file: StateTestFile } | undefined;
