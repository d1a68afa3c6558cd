import { describe, expect, test } from '@jest/globals';
import { issueOf, orderSignal, orderWith, readSignal, refusalOf } from './reading.ts';

describe('free text', () => {
  test('has its unprintable characters escaped, so that it cannot forge a line of the log', () => {
    const body = orderWith('"comment":"a\\nb\\u001b[2J\\u0085\\u202e\\ud800 é 😀","strategy":"s\\t1"');

    expect(readSignal(body)).toEqual({
      ...orderSignal,
      comment: 'a\\u000ab\\u001b[2J\\u0085\\u202e\\ud800 é 😀',
      strategy: 's\\u00091',
    });
  });

  test('beyond the basic plane is spelled out with braces', () => {
    expect(readSignal(orderWith('"comment":"\\udb40\\udc01"'))).toEqual({
      ...orderSignal,
      comment: '\\u{e0001}',
    });
  });

  test.each([
    ['strategy', 128],
    ['interval', 16],
    ['comment', 512],
  ])('of %s has at most %d characters', (name, most) => {
    expect(readSignal(orderWith(`"${name}":"${'x'.repeat(most)}"`))).toEqual({
      ...orderSignal,
      [name]: 'x'.repeat(most),
    });
    expect(issueOf(orderWith(`"${name}":"${'x'.repeat(most + 1)}"`))).toEqual({
      path: name,
      message: `the text has ${most + 1} characters`,
      hint: `shorten it to ${most} characters`,
    });
  });

  test.each(['null', 'true', '[]', '{}'])('is not %s', (value) => {
    expect(issueOf(orderWith(`"comment":${value}`)).hint).toBe('write text in double quotes');
  });
});

describe('extras', () => {
  test('keep numbers that a float would change as text', () => {
    expect(readSignal(orderWith('"extras":[1,-2.5,1.0,1e-7,9007199254740993,1e999]'))).toEqual({
      ...orderSignal,
      extras: [1, -2.5, '1.0', 1e-7, '9007199254740993', '1e999'],
    });
  });

  test('hold any JSON, null and false included', () => {
    expect(readSignal(orderWith('"extras":null'))).toEqual({ ...orderSignal, extras: null });
    expect(readSignal(orderWith('"extras":{"a":{"b":[false]},"":0}'))).toEqual({
      ...orderSignal,
      extras: { a: { b: [false] }, '': 0 },
    });
  });

  test('have their unprintable characters spelled out, in keys too', () => {
    expect(readSignal(orderWith('"extras":{"a\\n":"\\u009b2J"}'))).toEqual({
      ...orderSignal,
      extras: { 'a\\u000a': '\\u009b2J' },
    });
  });

  test('refuse duplicate and dangerous keys at every level', () => {
    const body = orderWith('"extras":{"a":1,"b":[{"c":1,"c":1}],"a":1,"__proto__":{},"d":{"__proto__":1}}');

    expect(refusalOf(body).issues).toEqual([
      { path: 'extras.b[0].c', message: 'this key is given twice', hint: 'keep one of them' },
      { path: 'extras.a', message: 'this key is given twice', hint: 'keep one of them' },
      {
        path: 'extras.__proto__',
        message: 'this key could change how objects behave',
        hint: 'choose another key',
      },
      {
        path: 'extras.d.__proto__',
        message: 'this key could change how objects behave',
        hint: 'choose another key',
      },
    ]);
  });

  test('take at most 4096 characters as JSON', () => {
    expect(readSignal(orderWith(`"extras":"${'x'.repeat(4094)}"`))).toEqual({
      ...orderSignal,
      extras: 'x'.repeat(4094),
    });
    expect(issueOf(orderWith(`"extras":"${'x'.repeat(4095)}"`))).toEqual({
      path: 'extras',
      message: 'extras take 4097 characters',
      hint: 'shorten them to 4096 characters',
    });
  });
});
