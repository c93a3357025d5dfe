import { driverSuite } from '../driver-suite.ts';
import { localSubject } from './suite-subject.ts';

driverSuite('local on sqlite', localSubject);
