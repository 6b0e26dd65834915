import assert from 'node:assert/strict';
import { countriesOf, isCountryCode, isRegion } from '../../../domain/catalog/regions.js';

describe('regions', () => {
  for (const text of ['us', 'eu', 'apac', 'US', 'EU', 'Apac', 'FI', 'fi', 'JP']) {
    it(`takes ${text} for a region`, () => assert.equal(isRegion(text), true));
  }
  for (const text of [
    '',
    'uk',
    'UK',
    'XX',
    'ZZ',
    'USA',
    'europe',
    'us-east-1',
    ' us',
    'constructor',
    '__proto__',
  ]) {
    it(`does not take "${text}" for one, and finds no country in it`, () => {
      assert.equal(isRegion(text), false);
      assert.deepEqual(countriesOf(text), []);
    });
  }

  it('stands for the country itself, in upper case', () => {
    assert.deepEqual(countriesOf('fi'), ['FI']);
    assert.deepEqual(countriesOf('us'), ['US']);
  });

  it('has every country of a group among the 249 ISO codes, in one group only', () => {
    const members = ['us', 'eu', 'apac'].flatMap((group) => countriesOf(group));
    assert.equal(new Set(members).size, members.length);
    assert.ok(members.every(isCountryCode));
    const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
    const codes = letters.flatMap((one) => letters.map((two) => one + two)).filter(isCountryCode);
    assert.equal(codes.length, 249);
  });

  it('has the Union, the Economic Area, Switzerland and the United Kingdom in eu, and no others', () => {
    const eu = countriesOf('eu');
    assert.equal(eu.length, 27 + 3 + 2);
    for (const country of ['NO', 'IS', 'LI', 'CH', 'GB', 'FI', 'FR', 'RO', 'NL'])
      assert.ok(eu.includes(country), country);
    for (const country of ['RU', 'TR', 'RS', 'UA']) assert.ok(!eu.includes(country), country);
  });

  it('has the lab’s countries of Asia and the Pacific in apac', () => {
    for (const country of ['AU', 'JP', 'TW']) assert.ok(countriesOf('APAC').includes(country), country);
  });
});
