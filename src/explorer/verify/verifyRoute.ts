import type { IncomingMessage, ServerResponse } from "node:http";
import type { Address } from "../../primitives/address.ts";
import { decodeAddress, isObject } from "../../rpc/parameters/parameters.ts";
import { readBody } from "../../rpc/server/httpBody.ts";
import { respondJson } from "../../rpc/server/httpResponse.ts";
import { parseMessage } from "../../rpc/server/parseMessage.ts";
import type { HostRule } from "../../rpc/server/remoteHost.ts";
import { readStandardInput } from "./standardInput.ts";
import type { Verifier } from "./verifier.ts";
import { MOST_FIELDS, REQUEST_BYTES, VERIFY_COST } from "./verifyLimits.ts";

interface VerifyServer {
  readonly verifier: Verifier;
  readonly hostOf: HostRule;
  /** Takes units from a visitor's budget; false when too few are left. */
  spend(remoteHost: string, units: number): boolean;
}

/** Answers Etherscan's module "contract": verifysourcecode, checkverifystatus, getsourcecode and getabi. */
export function answerVerification(
  server: VerifyServer,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const remoteHost = server.hostOf(request);
  const query = new URLSearchParams(request.url?.split("?")[1] ?? "");
  const isRead = request.method !== "POST";
  // The cost of a body is known only when it is read, so it is taken before.
  if (!server.spend(remoteHost, isRead ? READ_COST : VERIFY_COST)) {
    refuse(response, "Too many requests. Try again later.", 429);
    return;
  }
  const answer = (fields: Fields): void =>
    void answerTo(server.verifier, fields, remoteHost).then(
      (made) => respond(response, made),
      () => refuse(response, "The node cannot answer this now.", 503),
    );
  if (isRead) {
    answer((name) => query.get(name));
    return;
  }
  readBody(request, REQUEST_BYTES, (body) => {
    const fields = body === undefined ? undefined : fieldsIn(body, request.headers["content-type"] ?? "");
    if (fields !== undefined) answer((name) => fields(name) ?? query.get(name));
    else
      refuse(
        response,
        `The request has more than ${REQUEST_BYTES / 1024 / 1024} MB or too many fields.`,
        413,
      );
  });
}

/** Units of a read. */
const READ_COST = 5;

/** The value of a field by its name. */
type Fields = (name: string) => string | null | undefined;

interface EtherscanAnswer {
  readonly status: "0" | "1";
  readonly message: string;
  readonly result: unknown;
}

/** The fields of a body; undefined for too many. Tools send a form, and some of them JSON. */
function fieldsIn(body: string, type: string): Fields | undefined {
  if (/^application\/json\b/i.test(type)) {
    const parsed = parseMessage(body);
    if (!isObject(parsed)) return () => undefined;
    return (name) => {
      const value = Object.hasOwn(parsed, name) ? parsed[name] : undefined;
      return typeof value === "string" ? value : JSON.stringify(value);
    };
  }
  // A field takes more memory than its text, so they are counted before.
  if (body.split("&", MOST_FIELDS + 1).length > MOST_FIELDS) return undefined;
  const form = new URLSearchParams(body);
  return (name) => form.get(name);
}

async function answerTo(verifier: Verifier, fields: Fields, remoteHost: string): Promise<EtherscanAnswer> {
  switch (fields("action")) {
    case "verifysourcecode":
      return verify(verifier, fields, remoteHost);
    case "checkverifystatus":
      return statusOf(verifier, fields("guid") ?? "");
    case "getabi":
      return ofContract(fields, (address) => abiOf(verifier, address));
    case "getsourcecode":
      return ofContract(fields, (address) => sourcesOf(verifier, address));
    case "getcompilers":
      return yes(verifier.compilers());
    default:
      return no("Error! Missing Or invalid Action name");
  }
}

function ofContract(fields: Fields, answer: (address: Address) => EtherscanAnswer): EtherscanAnswer {
  const address = decodeAddress(fields("address"));
  return address === undefined ? no("Invalid Address format") : answer(address);
}

async function verify(verifier: Verifier, fields: Fields, remoteHost: string): Promise<EtherscanAnswer> {
  const address = decodeAddress(fields("contractaddress"));
  if (address === undefined) return no("Missing or invalid contractaddress");
  if (fields("codeformat") !== "solidity-standard-json-input")
    return no("Only the code format solidity-standard-json-input is verified here");
  const [, source = "", name = ""] =
    /^(.{1,256}):([A-Za-z_$][\w$]{0,127})$/.exec(fields("contractname") ?? "") ?? [];
  if (name === "") return no("Missing or invalid contractname: path/of/Source.sol:Name");
  const input = readStandardInput(fields("sourceCode") ?? "");
  if (!input.ok) return no(input.error.message);
  if (!Object.hasOwn(input.value.sources, source)) return no("The sources have no file of that name");
  const asked = await verifier.ask({
    remoteHost,
    address,
    compiler: fields("compilerversion") ?? "",
    input: input.value,
    source,
    name,
  });
  return "id" in asked ? yes(asked.id) : no(asked.problem);
}

function statusOf(verifier: Verifier, id: string): EtherscanAnswer {
  const outcome = verifier.outcomeOf(id);
  if (outcome === undefined) return no("Unknown UID");
  if (outcome === "pending") return no("Pending in queue");
  if (outcome === "verified") return yes("Pass - Verified");
  return no(outcome.problem.startsWith("Fail") ? outcome.problem : `Fail - ${outcome.problem}`);
}

function abiOf(verifier: Verifier, address: Address): EtherscanAnswer {
  const contract = verifier.store.read(address);
  return contract === undefined ? no(NOT_VERIFIED) : yes(JSON.stringify(contract.abi));
}

function sourcesOf(verifier: Verifier, address: Address): EtherscanAnswer {
  const contract = verifier.store.read(address);
  if (contract === undefined) return yes([{ ...EMPTY, ABI: NOT_VERIFIED }]);
  const { abi, name, compiler, settings, sources, match, source } = contract;
  return yes([
    {
      ...EMPTY,
      // Etherscan puts standard JSON into a second pair of braces.
      SourceCode: `{${JSON.stringify({ language: "Solidity", sources, settings })}}`,
      ABI: JSON.stringify(abi),
      ContractName: name,
      ContractFileName: source,
      CompilerVersion: compiler,
      CompilerType: "solc-j",
      Match: match,
    },
  ]);
}

const NOT_VERIFIED = "Contract source code not verified";
const EMPTY = {
  SourceCode: "",
  ContractName: "",
  CompilerVersion: "",
  ConstructorArguments: "",
  EVMVersion: "",
  Library: "",
  LicenseType: "",
  Proxy: "0",
  Implementation: "",
  SwarmSource: "",
};

function yes(result: unknown): EtherscanAnswer {
  return { status: "1", message: "OK", result };
}

function no(result: string): EtherscanAnswer {
  return { status: "0", message: "NOTOK", result };
}

function refuse(response: ServerResponse, result: string, status: number): void {
  send(response, status, no(result));
}

function respond(response: ServerResponse, answer: EtherscanAnswer): void {
  send(response, 200, answer);
}

function send(response: ServerResponse, status: number, answer: EtherscanAnswer): void {
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("X-Content-Type-Options", "nosniff");
  respondJson(response, status, JSON.stringify(answer));
}
