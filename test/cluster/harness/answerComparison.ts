import type { NodeProcess } from "./nodeProcess.ts";

/** A node's answer to one request. */
export interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Why two nodes may differ in a member of a method's answers. */
export interface ListedDifference {
  /** The label of the request; `*` stands for all. */
  readonly method: string;
  /** A path from `result` or `error`, with `[]` for every index: `result.logs[].index`; a final `*` covers all below. */
  readonly member: string;
  readonly reason: string;
}

/** One member in which two answers differ. */
export interface Difference {
  readonly member: string;
  readonly ours: unknown;
  readonly theirs: unknown;
}

/** Members in which two values differ; a member that is absent on one side is listed under its own path. */
function differencesOf(ours: unknown, theirs: unknown, member = ""): readonly Difference[] {
  if (isObject(ours) && isObject(theirs) && Array.isArray(ours) === Array.isArray(theirs)) {
    if (Array.isArray(ours) && Array.isArray(theirs)) {
      if (ours.length !== theirs.length) return [{ member, ours, theirs }];
      return ours.flatMap((item, index) => differencesOf(item, theirs[index], `${member}[]`));
    }
    const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
    return [...names].flatMap((name) =>
      differencesOf(ours[name], theirs[name], member === "" ? name : `${member}.${name}`),
    );
  }
  return ours === theirs ? [] : [{ member, ours, theirs }];
}

/** Sends requests to both nodes, and collects differences without a listed reason and the reasons that were needed. */
export function createComparison(
  ours: NodeProcess["rpc"],
  theirs: NodeProcess["rpc"],
  listed: readonly ListedDifference[],
  normalise: (answer: Answer, whose: "ours" | "theirs", label: string) => unknown,
) {
  const needed = new Set<ListedDifference>();
  const unexplained: string[] = [];
  return {
    /** Compares the answers to one request; the label is the method, with a suffix where the table distinguishes forms. */
    async compare(
      label: string,
      params: readonly unknown[] = [],
      theirParams: readonly unknown[] = params,
    ): Promise<void> {
      const [ourAnswer, theirAnswer] = await Promise.all([
        answerOf(ours, methodOf(label), params),
        answerOf(theirs, methodOf(label), theirParams),
      ]);
      for (const difference of differencesOf(
        normalise(ourAnswer, "ours", label),
        normalise(theirAnswer, "theirs", label),
      )) {
        const reason = listed.find(
          (row) => (row.method === "*" || row.method === label) && covers(row.member, difference.member),
        );
        if (reason !== undefined) needed.add(reason);
        else unexplained.push(describe(label, params, difference));
      }
    },
    /** Differences found since the last call. */
    unexplained: (): readonly string[] => unexplained.splice(0),
    /** Rows of the table that no difference needed: they would hide future differences. */
    unused: (): readonly ListedDifference[] => listed.filter((row) => !needed.has(row)),
  };
}

function methodOf(label: string): string {
  return label.split(" ")[0] ?? label;
}

async function answerOf(
  rpc: NodeProcess["rpc"],
  method: string,
  params: readonly unknown[],
): Promise<Answer> {
  return rpc<unknown>(method, params).then(
    (result) => ({ result }),
    ({ code, message, data }: { code: number; message: string; data?: unknown }) => ({
      error: { code, message, ...(data !== undefined && { data }) },
    }),
  );
}

function covers(row: string, member: string): boolean {
  return row.endsWith("*") ? member.startsWith(row.slice(0, -1)) : member === row;
}

function describe(label: string, params: readonly unknown[], { member, ours, theirs }: Difference): string {
  const short = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, 240);
  return `${label} ${member} ${short(params)}: ${short(ours)} / ${short(theirs)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
