import { CommanderError } from 'commander';
import { describeError } from '../lib/base/describe-error.ts';
import { type Issue, RelayError } from '../lib/base/errors.ts';
import { isSystemError } from './system-error.ts';

/** 1: the command failed; 2: the command line is wrong. */
export type ExitStatus = 1 | 2;

/** A command failed. The message says what happened, the action what to do. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly code: string;
  readonly action: string;
  readonly issues: readonly Issue[];
  readonly exitStatus: ExitStatus;

  constructor(
    code: string,
    message: string,
    action: string,
    options: { readonly issues?: readonly Issue[]; readonly exitStatus?: ExitStatus } = {},
  ) {
    super(message);
    this.code = code;
    this.action = action;
    this.issues = options.issues ?? [];
    this.exitStatus = options.exitStatus ?? 1;
  }
}

/** The failure of a wrong command line. */
export function createUsageFailure(message: string, action: string): CommandFailure {
  return new CommandFailure('usage', message, action, { exitStatus: 2 });
}

/** A failure as it is printed. */
export interface FailureReport {
  readonly code: string;
  readonly message: string;
  readonly issues: readonly Issue[];
  readonly action: string;
  readonly exitStatus: ExitStatus;
}

/** Converts anything thrown to a report for the operator, without a stack trace. */
export function reportFailure(error: unknown): FailureReport {
  if (error instanceof CommandFailure || error instanceof RelayError) return reportKnown(error);
  if (error instanceof CommanderError)
    return {
      code: 'usage',
      message: error.message.replace(/^error: /, '').replaceAll('\n', ' '),
      issues: [],
      action: 'Add --help to the command to see how it is used.',
      exitStatus: 2,
    };
  if (isMissingPackage(error))
    return {
      code: 'not_installed',
      message: `a package is missing or broken: ${error.message.replace(/ imported from .*/, '')}`,
      issues: [],
      action: 'Run `npm ci` again.',
      exitStatus: 1,
    };
  if (isWithoutRegion(error))
    return {
      code: 'aws_region_missing',
      message: 'AWS cannot be asked: no region is set, or the one that is set is none',
      issues: [],
      action:
        'Give the region of the stack with --region, for example --region eu-central-1, or set AWS_REGION.',
      exitStatus: 1,
    };
  if (isAwsFailure(error))
    return {
      code: 'aws_refused',
      message: `AWS refused or failed: ${error.name}: ${error.message}`,
      issues: [],
      action:
        'Check the credentials (AWS_PROFILE), their permissions and the region (--region). After a network error, try again.',
      exitStatus: 1,
    };
  return {
    code: 'unexpected',
    message: describeError(error),
    issues: [],
    action: 'This is a bug of the command itself: report it with the command you ran.',
    exitStatus: 1,
  };
}

/** Some commands load their packages only when they run. */
function isMissingPackage(error: unknown): error is Error {
  return isSystemError(error) && error.code === 'ERR_MODULE_NOT_FOUND';
}

/**
 * The clients add `$metadata` to every error of a service or the network. Missing credentials fail before
 * that.
 */
function isAwsFailure(error: unknown): error is Error {
  return error instanceof Error && ('$metadata' in error || /Credentials|Token/.test(error.name));
}

/** The clients throw it before they ask anything. */
function isWithoutRegion(error: unknown): boolean {
  return error instanceof Error && /^Region (?:is missing|not accepted)/.test(error.message);
}

function reportKnown(error: CommandFailure | RelayError): FailureReport {
  const { code, message, issues } = error;
  return error instanceof CommandFailure
    ? { code, message, issues, action: error.action, exitStatus: error.exitStatus }
    : { code, message, issues, action: error.row.action, exitStatus: 1 };
}
