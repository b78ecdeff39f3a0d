import { describe, expect, it } from "vitest";
import { aGraphQl } from "./aGraphQl.ts";

const ask = aGraphQl();

/** A query, and what is found in it: the type and path, the text, and the places. */
type Case = readonly [query: string, ...found: readonly Found[]];
type Found = readonly [type: string, text: string, ...places: readonly string[]];

/** The rules in the order in which graphql-java 21.3 applies them at a node, with its texts. */
const CASES: readonly Case[] = [
  ["type A{b:Long} {chainID}", ["NonExecutableDefinition", "Type 'A' definition is not executable", "1:1"]],
  [
    '{block(hash:"0x1",hash:"0x2"){number}}',
    ["DuplicateArgumentNames@[block]", "There can be only one argument named 'hash'", "1:2"],
  ],
  [
    "{logs(filter:null){index}}",
    ["WrongType@[logs]", "argument 'filter' with value 'NullValue{}' must not be null", "1:7"],
    ["NullValueForNonNullArgument@[logs]", "Null value for non-null field argument 'filter'", "1:2"],
  ],
  [
    "{logs(filter:3){index}}",
    ["WrongType@[logs]", "argument 'filter' with value 'IntValue{value=3}' must be an object type", "1:7"],
  ],
  [
    '{logs(filter:{topics:[["0x1",5]]}){index}}',
    [
      "WrongType@[logs]",
      "argument 'filter.topics[0][1]' with value 'IntValue{value=5}' is not a valid 'Bytes32' - Value is not any Bytes32 : 'IntValue{value=5}'",
      "1:7",
    ],
  ],
  [
    "{logs(filter:{fromBlock:1,fromBlock:2,topics:[]}){index}}",
    ["UniqueObjectFieldName@[logs]", "There can be only one field named 'fromBlock'", "1:14"],
  ],
  [
    "{block{... on Long{x}}}",
    [
      "InlineFragmentTypeConditionInvalid@[block]",
      "Inline fragment type condition is invalid, must be on Object/Interface/Union",
      "1:8",
    ],
  ],
  [
    "{block{... on Account{address}}}",
    [
      "InvalidFragmentType@[block]",
      "Fragment cannot be spread here as objects of type 'Block' can never be of type 'Account'",
      "1:8",
    ],
  ],
  [
    "{block{...A}} fragment A on Account{address}",
    [
      "InvalidFragmentType@[block]",
      "Fragment 'A' cannot be spread here as objects of type 'Block' can never be of type 'Account'",
      "1:8",
    ],
  ],
  ["{block{... on Nope{x}}}", ["UnknownType@[block]", "Unknown type 'Nope'", "1:15"]],
  ["{chainID} fragment A on Block{number}", ["UnusedFragment", "Unused fragment 'A'", "1:11"]],
  [
    "{block{...A}} fragment A on Block{number parent{...A}}",
    ["FragmentCycle@[A]", "Fragment cycles not allowed", "1:15"],
  ],
  [
    "{block{...A}} fragment A on Block{number} fragment A on Block{hash}",
    ["DuplicateFragmentName@[A]", "There can be only one fragment named 'A'", "1:43"],
  ],
  [
    "fragment A on Long{x} {block{...A}}",
    [
      "FragmentTypeConditionInvalid@[A]",
      "Fragment type condition is invalid, must be on Object/Interface/Union",
      "1:1",
    ],
  ],
  [
    "query A{chainID} query A{gasPrice}",
    ["DuplicateOperationName", "There can be only one operation named 'A'", "1:18"],
  ],
  [
    "{chainID} {gasPrice}",
    ["LoneAnonymousOperationViolation", "Anonymous operation with other operations", "1:11"],
  ],
  [
    "{chainID} query B{gasPrice}",
    ["LoneAnonymousOperationViolation", "Operation 'B' is following anonymous operation", "1:11"],
  ],
  [
    "query($n:Long,$n:Long){block(number:$n){number}}",
    ["DuplicateVariableName", "There can be only one variable named 'n'", "1:15"],
  ],
  ["{block(number:$n){number}}", ["UndefinedVariable@[block]", "Undefined variable 'n'", "1:15"]],
  [
    "query($n:Long){...F} fragment F on Query{block(number:$n){number} b:block(number:$m){hash}}",
    ["UndefinedVariable@[F/block]", "Undefined variable 'm'", "1:82"],
  ],
  [
    "query($n:Block){block(number:$n){number}}",
    ["NonInputTypeOnVariable", "Input variable 'n' type 'Block' is not an input type", "1:7"],
    [
      "VariableTypeMismatch@[block]",
      "Variable 'n' of type 'Block' used in position expecting type 'Long'",
      "1:30",
    ],
  ],
  [
    "query($n:Bytes){block(number:$n){number}}",
    [
      "VariableTypeMismatch@[block]",
      "Variable 'n' of type 'Bytes' used in position expecting type 'Long'",
      "1:30",
    ],
  ],
  [
    "query($h:Bytes32){transaction(hash:$h){hash}}",
    [
      "VariableTypeMismatch@[transaction]",
      "Variable 'h' of type 'Bytes32' used in position expecting type 'Bytes32!'",
      "1:36",
    ],
  ],
  [
    'query($n:Long="x"){block(number:$n){number}}',
    ["BadValueForDefaultArg", "Bad default value 'StringValue{value='x'}' for type 'Long'", "1:7"],
  ],
  ["query @skip(if:true){chainID}", ["MisplacedDirective", "Directive 'skip' not allowed here", "1:7"]],
  ["{chainID @skip}", ["MissingDirectiveArgument@[chainID]", "Missing directive argument 'if'", "1:10"]],
  [
    "{chainID @skip(if:true,of:1)}",
    ["UnknownDirective@[chainID]", "Unknown directive argument 'of'", "1:24"],
  ],
  [
    "{chainID @skip(if:false) @skip(if:false)}",
    [
      "DuplicateDirectiveName@[chainID]",
      "Non repeatable directives must be uniquely named within a location. The directive 'skip' used on a 'Field' is not unique",
      "1:26",
    ],
  ],
  [
    "{block{number number:hash}}",
    ["FieldsConflict@[block]", "'number' : returns different types 'Long' and 'Bytes32'", "1:8", "1:15"],
  ],
  [
    "{block{a:number a:timestamp}}",
    ["FieldsConflict@[block]", "'a' : 'number' and 'timestamp' are different fields", "1:8", "1:17"],
  ],
  [
    "{block{a:parent{number} a:hash}}",
    ["FieldsConflict@[block]", "'a' : fields have different nullability shapes", "1:8", "1:25"],
  ],
  [
    "{a:block(number:1){number} a:block(number:1){number:hash}}",
    ["FieldsConflict", "'a/number' : returns different types 'Long' and 'Bytes32'", "1:20", "1:46"],
  ],
];

describe("the check of a query against the schema", () => {
  it.each(CASES.map(([query, ...found]) => ({ query, found })))("$query", async ({ query, found }) => {
    const { status, data, errors = [] } = await ask(query);
    const shown = errors.map(({ message, locations = [], extensions }) => ({
      message: message.replace("Validation Error", "Validation error"),
      places: (locations as { line: number; column: number }[]).map(
        ({ line, column }) => `${line}:${column}`,
      ),
      extensions,
    }));
    const expected = found.map(([type, text, ...places]) => ({
      message: `Validation error (${type}) : ${text}`,
      places,
      extensions: { classification: "ValidationError" },
    }));
    for (const each of expected) expect(shown).toContainEqual(each);
    expect(status).toBe(400);
    expect(data).toBeUndefined();
  });

  it("reports at most 100 errors", async () => {
    const names = Array.from({ length: 150 }, (_, index) => `f${index}`).join(" ");
    const { errors = [] } = await ask(`{${names}}`);
    expect(errors).toHaveLength(100);
    expect(errors.at(-1)?.message).toBe("The maximum number of validation errors has been reached. (100)");
  });
});

describe("texts that are no query", () => {
  it.each([
    ["{block{...}}", "Invalid syntax with offending token '...' at line 1 column 8"],
    ["query($n:[Long){chainID}", "Invalid syntax with offending token '[' at line 1 column 10"],
    [
      "{chainID} }",
      "Invalid syntax encountered. There are extra tokens in the text that have not been consumed. Offending token '}' at line 1 column 11",
    ],
    ["{block(number:){number}}", "Invalid syntax with offending token ')' at line 1 column 15"],
    ["{\n  block(\n", "Invalid syntax with offending token '<EOF>' at line 3 column 1"],
    ["{ block ? }", "Invalid syntax with ANTLR error 'token recognition error at: '?'' at line 1 column 9"],
    [
      "{block(number:0x10){number}}",
      "Invalid syntax with ANTLR error 'token recognition error at: '0x'' at line 1 column 15",
    ],
    [
      "{ # none\n block(number: 12abc){number}}",
      "Invalid syntax with ANTLR error 'token recognition error at: '12a'' at line 2 column 16",
    ],
    [
      '{block(hash:"abc\n"){number}}',
      "Invalid syntax with ANTLR error 'token recognition error at: '\"abc\\n'' at line 1 column 13",
    ],
    [
      '{block(hash:"a\\q"){number}}',
      "Invalid syntax with ANTLR error 'token recognition error at: '\"a\\q'' at line 1 column 13",
    ],
    [
      "{block(number:.5){number}}",
      "Invalid syntax with ANTLR error 'token recognition error at: '.5'' at line 1 column 15",
    ],
    ["{}", "Invalid syntax with offending token '}' at line 1 column 2"],
    ["# nothing", "Invalid syntax with offending token '<EOF>' at line 1 column 10"],
  ])("%s", async (query, message) => {
    const { status, errors } = await ask(query);
    expect(errors).toMatchObject([{ message, extensions: { classification: "InvalidSyntax" } }]);
    expect(status).toBe(400);
  });
});

describe("variables", () => {
  it.each([
    [
      "query($n:Long!){block(number:$n){number}}",
      { n: 1.5 },
      "Variable 'n' has an invalid value: Unable to parse variable value 1.5 as an Long",
    ],
    [
      "query($a:Address!){block{account(address:$a){balance}}}",
      { a: "0x12" },
      "Variable 'a' has an invalid value: Unable to parse variable value 0x12 as an Address",
    ],
    [
      "query($h:Bytes32!){transaction(hash:$h){hash}}",
      { h: "12" },
      "Bytes32 value '12' is not prefixed with 0x",
    ],
    [
      "query($f:FilterCriteria!){logs(filter:$f){index}}",
      { f: 5 },
      "Variable 'f' has an invalid value: Expected type 'Map' but was 'Integer'. Variables for input objects must be an instance of type 'Map'.",
    ],
    [
      "query($f:FilterCriteria!){logs(filter:$f){index}}",
      { f: { x: 1 } },
      "The variables input contains a field name 'x' that is not defined for input object type 'FilterCriteria' ",
    ],
    [
      "query($f:FilterCriteria!){logs(filter:$f){index}}",
      { f: { topics: [null] } },
      "Variable 'f' has an invalid value: Coerced Null value for NonNull type '[Bytes32!]!'",
    ],
    [
      "query($f:FilterCriteria!){logs(filter:$f){index}}",
      {},
      "Variable 'f' has an invalid value: Variable 'f' has coerced Null value for NonNull type 'FilterCriteria!'",
    ],
  ])("%s with %j", async (query, variables, message) => {
    const { status, errors } = await ask(query, { variables });
    expect(errors?.map((error) => error.message)).toEqual([message]);
    expect(errors?.[0]?.extensions).toEqual({ classification: "ValidationError" });
    expect(status).toBe(400);
  });

  it("may be left out where they have a default or may be null", async () => {
    const { data } = await ask(
      "query($n:Long=0,$m:Long){a:block(number:$n){number} b:block(number:$m){number}}",
    );
    expect(data).toEqual({ a: { number: "0x0" }, b: { number: "0x0" } });
  });
});
