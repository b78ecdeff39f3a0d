import {
  type ArgumentNode,
  type ConstDirectiveNode,
  type ConstValueNode,
  type DefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  Location,
  type NamedTypeNode,
  type NameNode,
  type ObjectFieldNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  type Source,
  type StringValueNode,
  type Token,
  TokenKind,
  type TypeNode,
  type ValueNode,
  type VariableDefinitionNode,
  type VariableNode,
} from "graphql";
import type { Steps } from "../../primitives/steps.ts";

export interface TokensOfQuery {
  readonly source: Source;
  /** Without comments. The last one is the end of the query, or what precedes characters that are no token. */
  readonly tokens: readonly Token[];
  /** What is wrong with the token of this index, or with what follows the last one. */
  problemAt(index: number): Error;
}

/**
 * Makes the tree of a query's tokens, which is the one that graphql-js's parser makes of operations and fragments. That parser
 * works in one go: on 15,000 tokens for tens of milliseconds in a thread that has parsed little yet. This one pauses.
 *
 * Their nesting is bounded before, because rules are functions that call each other. Throws a problem at the first token that does
 * not fit.
 */
export function* parseTokens(query: TokensOfQuery): Steps<DocumentNode> {
  const rules = new GrammarRules(query);
  return yield* rules.document();
}

class GrammarRules {
  private readonly query: TokensOfQuery;
  private index = 0;
  private pausedAt = 0;

  constructor(query: TokensOfQuery) {
    this.query = query;
  }

  *document(): Steps<DocumentNode> {
    const definitions: DefinitionNode[] = [];
    do definitions.push(yield* this.definition());
    while (!this.isAt(TokenKind.EOF));
    return { kind: Kind.DOCUMENT, definitions };
  }

  private *definition(): Steps<OperationDefinitionNode | FragmentDefinitionNode> {
    if (this.isDue()) yield;
    const start = this.token;
    if (this.isAt(TokenKind.BRACE_L)) {
      const selectionSet = yield* this.selectionSet();
      return {
        kind: Kind.OPERATION_DEFINITION,
        operation: OperationTypeNode.QUERY,
        variableDefinitions: [],
        directives: [],
        selectionSet,
        loc: this.locationFrom(start),
      };
    }
    const operation = start.kind === TokenKind.NAME ? OPERATIONS.get(start.value) : undefined;
    if (operation !== undefined) return yield* this.operation(operation);
    this.expectKeyword("fragment");
    return yield* this.fragment(start);
  }

  private *operation(operation: OperationTypeNode): Steps<OperationDefinitionNode> {
    const start = this.advance();
    const name = this.isAt(TokenKind.NAME) ? this.name() : undefined;
    const variableDefinitions: VariableDefinitionNode[] = [];
    if (this.takes(TokenKind.PAREN_L))
      do variableDefinitions.push(yield* this.variableDefinition());
      while (!this.takes(TokenKind.PAREN_R));
    const directives = yield* this.directives(false);
    const selectionSet = yield* this.selectionSet();
    return {
      kind: Kind.OPERATION_DEFINITION,
      operation,
      ...(name && { name }),
      variableDefinitions,
      directives,
      selectionSet,
      loc: this.locationFrom(start),
    };
  }

  private *fragment(start: Token): Steps<FragmentDefinitionNode> {
    const name = this.fragmentName();
    this.expectKeyword("on");
    const typeCondition = this.namedType();
    const directives = yield* this.directives(false);
    const selectionSet = yield* this.selectionSet();
    return {
      kind: Kind.FRAGMENT_DEFINITION,
      name,
      typeCondition,
      directives,
      selectionSet,
      loc: this.locationFrom(start),
    };
  }

  private *variableDefinition(): Steps<VariableDefinitionNode> {
    if (this.isDue()) yield;
    const start = this.token;
    const variable = this.variable();
    this.expect(TokenKind.COLON);
    const type = this.type();
    const defaultValue = this.takes(TokenKind.EQUALS)
      ? ((yield* this.value(true)) as ConstValueNode)
      : undefined;
    const directives = (yield* this.directives(true)) as readonly ConstDirectiveNode[];
    return {
      kind: Kind.VARIABLE_DEFINITION,
      variable,
      type,
      ...(defaultValue && { defaultValue }),
      directives,
      loc: this.locationFrom(start),
    };
  }

  // Selections

  private *selectionSet(): Steps<SelectionSetNode> {
    const start = this.expect(TokenKind.BRACE_L);
    const selections: SelectionNode[] = [];
    do {
      if (this.isDue()) yield;
      selections.push(yield* this.isAt(TokenKind.SPREAD) ? this.spread() : this.field());
    } while (!this.takes(TokenKind.BRACE_R));
    return { kind: Kind.SELECTION_SET, selections, loc: this.locationFrom(start) };
  }

  private *field(): Steps<FieldNode> {
    const start = this.token;
    const first = this.name();
    const second = this.takes(TokenKind.COLON) ? this.name() : undefined;
    const fieldArguments = yield* this.arguments(false);
    const directives = yield* this.directives(false);
    const selectionSet = this.isAt(TokenKind.BRACE_L) ? yield* this.selectionSet() : undefined;
    return {
      kind: Kind.FIELD,
      ...(second && { alias: first }),
      name: second ?? first,
      arguments: fieldArguments,
      directives,
      ...(selectionSet && { selectionSet }),
      loc: this.locationFrom(start),
    };
  }

  private *spread(): Steps<SelectionNode> {
    const start = this.expect(TokenKind.SPREAD);
    const isConditional = this.isAt(TokenKind.NAME) && this.token.value === "on";
    if (!isConditional && this.isAt(TokenKind.NAME)) {
      const name = this.fragmentName();
      const directives = yield* this.directives(false);
      return { kind: Kind.FRAGMENT_SPREAD, name, directives, loc: this.locationFrom(start) };
    }
    if (isConditional) this.advance();
    const typeCondition = isConditional ? this.namedType() : undefined;
    const directives = yield* this.directives(false);
    const selectionSet = yield* this.selectionSet();
    return {
      kind: Kind.INLINE_FRAGMENT,
      ...(typeCondition && { typeCondition }),
      directives,
      selectionSet,
      loc: this.locationFrom(start),
    };
  }

  private *directives(isConstant: boolean): Steps<readonly DirectiveNode[]> {
    const directives: DirectiveNode[] = [];
    while (this.isAt(TokenKind.AT)) {
      if (this.isDue()) yield;
      const start = this.advance();
      const name = this.name();
      const ofDirective = yield* this.arguments(isConstant);
      directives.push({
        kind: Kind.DIRECTIVE,
        name,
        arguments: ofDirective,
        loc: this.locationFrom(start),
      });
    }
    return directives;
  }

  private *arguments(isConstant: boolean): Steps<readonly ArgumentNode[]> {
    const found: ArgumentNode[] = [];
    if (!this.takes(TokenKind.PAREN_L)) return found;
    do {
      if (this.isDue()) yield;
      const start = this.token;
      const name = this.name();
      this.expect(TokenKind.COLON);
      const value = yield* this.value(isConstant);
      found.push({ kind: Kind.ARGUMENT, name, value, loc: this.locationFrom(start) });
    } while (!this.takes(TokenKind.PAREN_R));
    return found;
  }

  // Values

  private *value(isConstant: boolean): Steps<ValueNode> {
    switch (this.token.kind) {
      case TokenKind.BRACKET_L:
        return yield* this.list(isConstant);
      case TokenKind.BRACE_L:
        return yield* this.object(isConstant);
      case TokenKind.DOLLAR:
        return isConstant ? this.failAfterDollar() : this.variable();
      default:
        return this.scalar();
    }
  }

  private *list(isConstant: boolean): Steps<ValueNode> {
    const start = this.advance();
    const values: ValueNode[] = [];
    while (!this.takes(TokenKind.BRACKET_R)) {
      if (this.isDue()) yield;
      values.push(yield* this.value(isConstant));
    }
    return { kind: Kind.LIST, values, loc: this.locationFrom(start) };
  }

  private *object(isConstant: boolean): Steps<ValueNode> {
    const begin = this.advance();
    const fields: ObjectFieldNode[] = [];
    while (!this.takes(TokenKind.BRACE_R)) {
      if (this.isDue()) yield;
      const start = this.token;
      const name = this.name();
      this.expect(TokenKind.COLON);
      const value = yield* this.value(isConstant);
      fields.push({ kind: Kind.OBJECT_FIELD, name, value, loc: this.locationFrom(start) });
    }
    return { kind: Kind.OBJECT, fields, loc: this.locationFrom(begin) };
  }

  private scalar(): ValueNode {
    const { kind, value } = this.token;
    switch (kind) {
      case TokenKind.INT:
        return { kind: Kind.INT, value, loc: this.locationFrom(this.advance()) };
      case TokenKind.FLOAT:
        return { kind: Kind.FLOAT, value, loc: this.locationFrom(this.advance()) };
      case TokenKind.STRING:
      case TokenKind.BLOCK_STRING:
        return this.string(kind === TokenKind.BLOCK_STRING);
      case TokenKind.NAME:
        return this.nameAsValue();
      default:
        return this.fail();
    }
  }

  private string(block: boolean): StringValueNode {
    const start = this.advance();
    return { kind: Kind.STRING, value: start.value, block, loc: this.locationFrom(start) };
  }

  private nameAsValue(): ValueNode {
    const start = this.advance();
    const loc = this.locationFrom(start);
    if (start.value === "null") return { kind: Kind.NULL, loc };
    if (start.value === "true" || start.value === "false")
      return { kind: Kind.BOOLEAN, value: start.value === "true", loc };
    return { kind: Kind.ENUM, value: start.value, loc };
  }

  private variable(): VariableNode {
    const start = this.expect(TokenKind.DOLLAR);
    const name = this.name();
    return { kind: Kind.VARIABLE, name, loc: this.locationFrom(start) };
  }

  /** A variable where none may be. The characters after its dollar sign may be no token, which is then the problem. */
  private failAfterDollar(): never {
    this.advance();
    this.index--;
    return this.fail();
  }

  // Names and types

  private name(): NameNode {
    const start = this.expect(TokenKind.NAME);
    return { kind: Kind.NAME, value: start.value, loc: this.locationFrom(start) };
  }

  private fragmentName(): NameNode {
    return this.token.value === "on" ? this.fail() : this.name();
  }

  private namedType(): NamedTypeNode {
    const start = this.token;
    const name = this.name();
    return { kind: Kind.NAMED_TYPE, name, loc: this.locationFrom(start) };
  }

  private type(): TypeNode {
    const start = this.token;
    const type = this.takes(TokenKind.BRACKET_L) ? this.listType(start) : this.namedType();
    return this.takes(TokenKind.BANG)
      ? { kind: Kind.NON_NULL_TYPE, type, loc: this.locationFrom(start) }
      : type;
  }

  private listType(start: Token): Exclude<TypeNode, { readonly kind: Kind.NON_NULL_TYPE }> {
    const type = this.type();
    this.expect(TokenKind.BRACKET_R);
    return { kind: Kind.LIST_TYPE, type, loc: this.locationFrom(start) };
  }

  // Tokens

  private get token(): Token {
    return this.query.tokens[this.index] ?? this.fail();
  }

  private isAt(kind: TokenKind): boolean {
    return this.token.kind === kind;
  }

  private takes(kind: TokenKind): boolean {
    const isAt = this.isAt(kind);
    if (isAt) this.advance();
    return isAt;
  }

  private expect(kind: TokenKind): Token {
    return this.isAt(kind) ? this.advance() : this.fail();
  }

  private expectKeyword(word: string): void {
    if (this.isAt(TokenKind.NAME) && this.token.value === word) this.advance();
    else this.fail();
  }

  /** Goes on from this token, which is returned. There has to be another one. */
  private advance(): Token {
    const { token } = this;
    this.index++;
    if (token.kind !== TokenKind.EOF && this.index === this.query.tokens.length) this.fail();
    return token;
  }

  private fail(): never {
    throw this.query.problemAt(this.index);
  }

  /** The location from this token to the one before the current one. */
  private locationFrom(start: Token): Location {
    const { source, tokens } = this.query;
    return new Location(start, tokens[this.index - 1] ?? start, source);
  }

  private isDue(): boolean {
    if (this.index - this.pausedAt < TOKENS_PER_STEP) return false;
    this.pausedAt = this.index;
    return true;
  }
}

const OPERATIONS: ReadonlyMap<string, OperationTypeNode> = new Map(
  Object.values(OperationTypeNode).map((type) => [type, type]),
);

/** Tokens that are read in less than a millisecond, also by code that has not run before. */
const TOKENS_PER_STEP = 128;
