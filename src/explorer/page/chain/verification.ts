import type { Abi } from "viem";
import { readEntries } from "./abi.ts";

/** A contract whose sources the node has compiled to the code that it has (docs/explorer-api.md, "Verification"). */
export interface VerifiedContract {
  readonly name: string;
  readonly compiler: string;
  /** Whether the metadata fit as well: then names and comments are those of the deployer. */
  readonly isExact: boolean;
  readonly abi: Abi;
}

export interface Source {
  readonly name: string;
  readonly content: string;
}

/** Most characters of a request to verify, as the node takes them. */
export const LONGEST_INPUT = 3_000_000;

let offered: Promise<readonly string[]> | undefined;

/** Versions of the compilers of the node; none where it verifies nothing. */
export function compilers(): Promise<readonly string[]> {
  offered ??= ask({ action: "getcompilers" }).then(
    ({ result }) => (Array.isArray(result) ? result.map(String) : []),
    () => [],
  );
  return offered;
}

const known = new Map<string, Promise<VerifiedContract | null>>();
/** Most contracts that one visit asks about. */
const MOST_ASKED = 500;

/** The verified contract at an address, asked for once; null for none. */
export function verifiedContract(address: string): Promise<VerifiedContract | null> {
  const asked = known.get(address);
  if (asked !== undefined) return asked;
  if (known.size >= MOST_ASKED) return Promise.resolve(null);
  const asking = load(address).catch(() => null);
  known.set(address, asking);
  return asking;
}

/** Makes the page ask again, after a contract has been verified. */
export function forgetVerified(address: string): void {
  known.delete(address);
}

async function load(address: string): Promise<VerifiedContract | null> {
  if ((await compilers()).length === 0) return null;
  const { status, result } = await ask({ action: "getcontract", address });
  if (status !== "1") return null;
  const { abi, name, compiler, match } = Object(result);
  const reading = readEntries(abi);
  return {
    name: String(name),
    compiler: String(compiler),
    isExact: match === "exact",
    abi: "abi" in reading ? reading.abi : [],
  };
}

/** The sources of a verified contract, which may be long. */
export async function sourcesOf(address: string): Promise<readonly Source[]> {
  const { status, result } = await ask({ action: "getsourcecode", address });
  const [one] = Array.isArray(result) ? result : [];
  const { SourceCode: code } = Object(one);
  if (status !== "1" || typeof code !== "string") throw new Error(String(result));
  if (code === "") return [];
  const { sources } = JSON.parse(code.slice(1, -1)) as {
    readonly sources: Readonly<Record<string, { readonly content: string }>>;
  };
  return Object.entries(sources).map(([name, { content }]) => ({ name, content }));
}

interface ApiAnswer {
  readonly status: string;
  readonly message: string;
  readonly result: unknown;
}

async function ask(query: Readonly<Record<string, string>>): Promise<ApiAnswer> {
  const response = await fetch(`/api?${new URLSearchParams({ module: "contract", ...query })}`);
  return (await response.json()) as ApiAnswer;
}

/** What a build file or a standard JSON input has to verify. */
export interface VerifyInput {
  /** The standard JSON input, as text. */
  readonly input: string;
  /** Version of the compiler; empty where the file does not tell it. */
  readonly compiler: string;
  /** `path:Name` of the contracts that the file lists; none where it lists none. */
  readonly contracts: readonly string[];
}

/** Reads a build file of Hardhat or Foundry, or a standard JSON input; undefined for another text. */
export function readBuildFile(text: string): VerifyInput | undefined {
  try {
    const file = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
    const input = file["input"] ?? file;
    if (Object(input).language !== "Solidity" || Object(input).sources === undefined) return undefined;
    const contracts = Object(Object(file["output"]).contracts) as Readonly<Record<string, object>>;
    return {
      input: JSON.stringify(input),
      compiler: typeof file["solcLongVersion"] === "string" ? `v${file["solcLongVersion"]}` : "",
      contracts: Object.entries(contracts).flatMap(([path, names]) =>
        Object.keys(names).map((name) => `${path}:${name}`),
      ),
    };
  } catch {
    return undefined;
  }
}

const POLL_MS = 1_500;
/** Most polls, in each of which the node waits a while for the outcome. */
const MOST_POLLS = 80;

/** Asks the node to verify a contract, and waits for the outcome: undefined where it is verified, else what is wrong. */
export async function verify(
  address: string,
  { input, compiler, contract }: Pick<VerifyInput, "input" | "compiler"> & { readonly contract: string },
): Promise<string | undefined> {
  const response = await fetch("/api", {
    method: "POST",
    body: new URLSearchParams({
      module: "contract",
      action: "verifysourcecode",
      contractaddress: address,
      codeformat: "solidity-standard-json-input",
      sourceCode: input,
      contractname: contract,
      compilerversion: compiler,
    }),
  });
  const { status, result } = (await response.json()) as ApiAnswer;
  if (status !== "1") return String(result);
  for (let poll = 0; poll < MOST_POLLS; poll++) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const answer = await ask({ action: "checkverifystatus", guid: String(result) });
    if (answer.status === "1") return undefined;
    if (answer.result === "Already Verified") return "The node has sources of this code already.";
    if (answer.result !== "Pending in queue")
      return `${answer.result}${answer.message.replace(/^NOTOK/, "")}`;
  }
  return "The node has not answered in time.";
}
